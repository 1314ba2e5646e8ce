"""Events of exports: rows for the owner's sockets, and the message that makes them read the rows."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction

from exports import sql
from exports.models import ExportEvent, ExportJob
from exports.schemas import ExportOut
from exports.states import Status
from jobs import pubsub, retention
from jobs.sql import call

CHANNEL = "dure:exports:{}"
MAX_AGE = timedelta(days=7)
DELETED_AT_ONCE = 5_000
TYPES = {
    Status.RUNNING: "job.progress",
    Status.SUCCEEDED: "job.completed",
    Status.FAILED: "job.failed",
    Status.CANCELLED: "job.cancelled",
}


def new_event(job: ExportJob, now: datetime) -> ExportEvent:
    return ExportEvent(
        owner_id=job.owner_id,
        job_id=job.pk,
        type=TYPES[Status(job.status)],
        data=ExportOut.at(job, now).dump(),
        at=now,
    )


def store(events: Sequence[ExportEvent]) -> None:
    """Store events, under the locks of their jobs: then an owner's ids grow in the order of commits."""
    if not events:
        return
    owners = sorted({event.owner_id for event in events})
    call.rows(sql.LOCK_FEEDS, [owners])
    ExportEvent.objects.bulk_create(events)
    channels = [CHANNEL.format(owner) for owner in owners]
    transaction.on_commit(lambda: pubsub.publish_to(channels))


def delete_old(now: datetime) -> int:
    """Deletes one batch of old events; answers how many."""
    old = ExportEvent.objects.filter(at__lt=now - MAX_AGE).order_by("at")
    return retention.delete_first(old, DELETED_AT_ONCE)
