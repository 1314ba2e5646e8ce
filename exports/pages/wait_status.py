"""What an export that has not ended waits for, said as it is: also when Redis or the listener is away.

The rows know it: a message that could not be sent is in the outbox, and a run is the engine's.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from exports.messages import REQUESTS, RESULTS
from exports.models import ExportJob, StreamOutbox
from exports.states import LIVE, Status
from jobs.models import Execution, Worker
from jobs.states import EXECUTION_ENDED, ExecutionStatus

# The listener sends within a second; a message that is older is not on its way, it is stuck.
SOON = timedelta(seconds=5)
# A worker speaks at most four times a second, and our own never keeps silent for so long.
QUIET = timedelta(seconds=15)
ROLE = "export"

# On its way, and stuck.
REQUEST_UNSENT = (
    _("Is being sent to the workers."),
    _("Waits to be sent: Redis or the listener is away. It goes out by itself once both are back."),
)
RESULT_UNSENT = (
    _("Its worker has ended; the result is being sent."),
    _("Its worker has ended; the result waits to be sent: Redis or the listener is away."),
)


@dataclass(frozen=True)
class Standing:
    """`since`: from when on it has been so. `late`: longer than it should."""

    words: Promise | str
    since: datetime
    late: bool = False


@dataclass(frozen=True)
class Facts:
    """What the rows say of one export: its messages that wait to be sent, and its run's status."""

    unsent: Mapping[str, datetime]
    run: str | None
    workers: bool


def standings(jobs: Collection[ExportJob], now: datetime) -> dict[int, Standing]:
    """For those that wait for something; the others simply run, or have ended."""
    live = [job for job in jobs if job.status in LIVE]
    if not live:
        return {}
    unsent, runs = _unsent(live), _runs(live)
    workers = _workers_are_alive(now) if ExecutionStatus.PENDING in runs.values() else True
    found = {}
    for job in live:
        run = runs.get(job.execution_id) if job.execution_id else None
        if said := standing(job, Facts(unsent.get(job.pk, {}), run, workers), now):
            found[job.pk] = said
    return found


def standing(job: ExportJob, facts: Facts, now: datetime) -> Standing | None:
    """Pure: of one export, the first of these that is so."""
    for stream, words in ((RESULTS, RESULT_UNSENT), (REQUESTS, REQUEST_UNSENT)):
        if (since := facts.unsent.get(stream)) is not None:
            late = now - since > SOON
            return Standing(words[late], since, late)
    heard = job.heard_at or job.created_at
    if facts.run in EXECUTION_ENDED:
        return Standing(_("Its worker has ended; the result is on its way."), heard, now - heard > QUIET)
    if job.status == Status.RUNNING:
        return _silence(heard, now)
    return _queued(job, facts, now)


def _silence(heard: datetime, now: datetime) -> Standing | None:
    silent = now - heard
    if silent <= QUIET:
        return None
    if silent > 2 * timedelta(seconds=settings.DURE_EXPORT_STALL_SECONDS):
        words = _("Nothing has been heard of it, and the listener that should have noticed seems to be away.")
        return Standing(words, heard, late=True)
    return Standing(_("Nothing has been heard from its worker."), heard, late=True)


def _queued(job: ExportJob, facts: Facts, now: datetime) -> Standing:
    if facts.run == ExecutionStatus.RUNNING:
        return Standing(_("A worker has begun; nothing has been heard from it yet."), job.created_at)
    if facts.run == ExecutionStatus.PENDING:
        if facts.workers:
            return Standing(_("Waits for a worker that is free."), job.created_at)
        return Standing(_("No worker that is alive makes exports: it waits for one."), job.created_at, True)
    late = now - job.created_at > 2 * QUIET
    return Standing(_("Was sent; no worker has taken it yet."), job.created_at, late)


def waiting_messages(now: datetime) -> datetime | None:
    """Since when the oldest message has waited, if for longer than it should."""
    oldest = StreamOutbox.objects.order_by("id").values_list("created_at", flat=True).first()
    return oldest if oldest is not None and now - oldest > SOON else None


def _unsent(jobs: Collection[ExportJob]) -> dict[int, dict[str, datetime]]:
    found: dict[int, dict[str, datetime]] = {}
    rows: Any = StreamOutbox.objects.filter(
        stream__in=(REQUESTS, RESULTS), fields__jobId__in=[str(job.pk) for job in jobs]
    )
    for stream, fields, at in rows.values_list("stream", "fields", "created_at"):
        found.setdefault(int(fields["jobId"]), {})[stream] = at
    return found


def _runs(jobs: Collection[ExportJob]) -> dict[UUID, str]:
    ids = [job.execution_id for job in jobs if job.execution_id]
    return dict(Execution.objects.filter(pk__in=ids).values_list("id", "status")) if ids else {}


def _workers_are_alive(now: datetime) -> bool:
    lease = timedelta(seconds=settings.DURE_LEASE_SECONDS)
    return Worker.objects.filter(seen_at__gt=now - lease, draining=False, roles__contains=[ROLE]).exists()
