"""Queue probes and minute statistics, read only."""

from django.contrib import admin

from jobs.admin.base import ReadOnlyAdmin
from scheduler.models import Minute, QueueProbe


@admin.register(QueueProbe)
class QueueProbeAdmin(ReadOnlyAdmin):
    list_display = ("role", "sent_at", "seen_at")
    search_fields = ()
    fields = ("role", "sent_at", "seen_at")


@admin.register(Minute)
class MinuteAdmin(ReadOnlyAdmin):
    list_display = ("minute", "done", "failed", "wait_ms", "run_ms")
    search_fields = ()
    fields = ("minute", "done", "failed", "wait_ms", "run_ms")
