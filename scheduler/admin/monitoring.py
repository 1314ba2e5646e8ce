"""What the monitor remembers: canaries and counted minutes."""

from django.contrib import admin

from jobs.admin.base import LookOnly
from scheduler.models import Canary, Minute


@admin.register(Canary)
class CanaryAdmin(LookOnly):
    list_display = ("role", "sent_at", "seen_at")
    search_fields = ()
    fields = ("role", "sent_at", "seen_at")


@admin.register(Minute)
class MinuteAdmin(LookOnly):
    list_display = ("minute", "done", "failed", "wait_ms", "run_ms")
    search_fields = ()
    fields = ("minute", "done", "failed", "wait_ms", "run_ms")
