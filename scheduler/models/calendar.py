"""Calendars: days and times at which schedules skip their runs."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from jobs.ids import uuid7
from scheduler.schedules.timezones import KOREAN_TIME


class Calendar(models.Model):
    """Holidays and maintenance windows of a user; schedules/calendars.py changes it."""

    id = models.UUIDField(_("ID"), primary_key=True, default=uuid7, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="calendars",
        verbose_name=_("owner"),
    )
    name = models.CharField(_("name"), max_length=200)
    # Whole days in the time zone, as texts like "2026-12-25".
    dates = models.JSONField(_("dates"), default=list, blank=True)
    # Times from `starts_at` until just before `ends_at`, as texts with an offset.
    windows = models.JSONField(_("maintenance windows"), default=list, blank=True)
    timezone = models.CharField(_("time zone"), max_length=64, default=KOREAN_TIME)
    created_at = models.DateTimeField(_("created at"), editable=False)
    updated_at = models.DateTimeField(_("updated at"), editable=False)

    class Meta:
        db_table = "calendars"
        verbose_name = _("calendar")
        verbose_name_plural = _("calendars")
        ordering = ["name", "id"]
        indexes = [
            # the list of an owner's calendars.
            models.Index(fields=["owner", "name"], name="calendars_of_owner"),
        ]

    def __str__(self) -> str:
        return self.name
