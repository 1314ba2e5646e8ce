"""Beats, queue probes, minute statistics, calendars and saved views, read only."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from jobs.admin import columns
from jobs.admin.base import PlainReadOnlyAdmin
from scheduler.models import Beat, BeatLeader, Calendar, Minute, QueueProbe, RoleMinute, SavedView

WAIT = columns.milliseconds("wait_ms", _("wait (p95)"))
DURATION = columns.milliseconds("run_ms", _("duration (p95)"))


@admin.register(Beat)
class BeatAdmin(PlainReadOnlyAdmin):
    list_display = ("name", "seen_at")


@admin.register(BeatLeader)
class BeatLeaderAdmin(PlainReadOnlyAdmin):
    list_display = ("holder", "since", "leads_until")


@admin.register(Calendar)
class CalendarAdmin(PlainReadOnlyAdmin):
    list_display = ("name", "owner", "timezone", "updated_at")
    list_select_related = ("owner",)
    fields = ("name", "owner", "dates", "windows", "timezone", "created_at", "updated_at")


@admin.register(SavedView)
class SavedViewAdmin(PlainReadOnlyAdmin):
    list_display = ("name", "user", "query")
    list_select_related = ("user",)


@admin.register(QueueProbe)
class QueueProbeAdmin(PlainReadOnlyAdmin):
    list_display = ("role", "sent_at", "seen_at")


@admin.register(Minute)
class MinuteAdmin(PlainReadOnlyAdmin):
    list_display = ("minute", "done", "failed", WAIT, DURATION)


@admin.register(RoleMinute)
class RoleMinuteAdmin(PlainReadOnlyAdmin):
    list_display = ("role", "minute", "done", "failed", "queued", WAIT, DURATION)
