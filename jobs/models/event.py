"""What happened to an office's jobs, written in the transaction in which it happened."""

from django.db import models

from jobs.states import EventType


class Event(models.Model):
    """Ids grow in the order of an office's commits, since its row's lock is held: `?after=` has no gaps."""

    office_id = models.UUIDField()
    job_id = models.UUIDField(null=True)
    batch_id = models.UUIDField(null=True)
    type = models.CharField(max_length=20, choices=EventType.choices)
    details = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        db_table = "job_events"
        indexes = [
            # the resumable list and the sockets.
            models.Index(fields=["office_id", "id"], name="events_of_office"),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.type}"
