"""Beats, queue probes, minute statistics, calendars and saved views, read only."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from jobs.admin import columns
from jobs.admin.base import ReadOnlyAdmin
from scheduler.models import Beat, BeatLeader, Calendar, Minute, QueueProbe, RoleMinute, SavedView

WAIT = columns.milliseconds("wait_ms", _("wait (p95)"))
DURATION = columns.milliseconds("run_ms", _("duration (p95)"))


@admin.register(Beat)
class BeatAdmin(ReadOnlyAdmin):
    list_display = ("name", "seen_at")
    search_fields = ()
    fields = ("name", "seen_at")


@admin.register(BeatLeader)
class BeatLeaderAdmin(ReadOnlyAdmin):
    list_display = ("holder", "since", "leads_until")
    search_fields = ()
    fields = ("holder", "since", "leads_until")


@admin.register(Calendar)
class CalendarAdmin(ReadOnlyAdmin):
    list_display = ("name", "owner", "timezone", "updated_at")
    list_select_related = ("owner",)
    search_fields = ()
    fields = ("name", "owner", "dates", "windows", "timezone", "created_at", "updated_at")


@admin.register(SavedView)
class SavedViewAdmin(ReadOnlyAdmin):
    list_display = ("name", "user", "query")
    list_select_related = ("user",)
    search_fields = ()
    fields = ("name", "user", "query")


@admin.register(QueueProbe)
class QueueProbeAdmin(ReadOnlyAdmin):
    list_display = ("role", "sent_at", "seen_at")
    search_fields = ()
    fields = ("role", "sent_at", "seen_at")


@admin.register(Minute)
class MinuteAdmin(ReadOnlyAdmin):
    list_display = ("minute", "done", "failed", WAIT, DURATION)
    search_fields = ()
    fields = ("minute", "done", "failed", WAIT, DURATION)


@admin.register(RoleMinute)
class RoleMinuteAdmin(ReadOnlyAdmin):
    list_display = ("role", "minute", "done", "failed", "queued", WAIT, DURATION)
    search_fields = ()
    fields = ("role", "minute", "done", "failed", "queued", WAIT, DURATION)
