"""The events of an office's jobs, each written in the transaction of its change."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from jobs.states import ALERT_EVENTS, EventType


class Event(models.Model):
    """Ids grow in the order of an office's commits, since its row's lock is held: `?after=` has no gaps."""

    office_id = models.UUIDField(_("office"))
    job_id = models.UUIDField(_("job"), null=True)
    batch_id = models.UUIDField(_("batch"), null=True)
    type = models.CharField(_("event type"), max_length=20, choices=EventType.choices)
    details = models.JSONField(_("details"), default=dict)
    at = models.DateTimeField(_("time"))

    class Meta:
        db_table = "job_events"
        verbose_name = _("event")
        verbose_name_plural = _("events")
        indexes = [
            # the resumable list and the sockets.
            models.Index(fields=["office_id", "id"], name="events_of_office"),
            # the alerts of a user.
            models.Index(
                fields=["office_id", "at"], name="events_that_alert", condition=Q(type__in=ALERT_EVENTS)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.type}"
