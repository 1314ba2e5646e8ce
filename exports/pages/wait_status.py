"""The cause for which a live export waits, also while Redis or the listener is down.

The rows tell: an unsent message is in the outbox, and a run is the engine's.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from exports.messages import REQUESTS, RESULTS
from exports.models import ExportJob, StreamOutbox
from exports.states import LIVE, Status
from jobs.display import Text
from jobs.models import Execution, Worker
from jobs.states import EXECUTION_ENDED, ExecutionStatus

# The listener sends within a second; an older message is stuck.
SEND_LIMIT = timedelta(seconds=5)
# Workers report up to four times a second, and ours never pause for this long.
SILENCE_LIMIT = timedelta(seconds=15)
ROLE = "export"

# Being sent, and stuck.
REQUEST_UNSENT = (
    _("Being sent to the workers."),
    _("Waiting to be sent: Redis or the listener is down. It is sent once both are back."),
)
RESULT_UNSENT = (
    _("The worker has finished; the result is being sent."),
    _("The worker has finished; the result waits to be sent: Redis or the listener is down."),
)


@dataclass(frozen=True)
class WaitStatus:
    """`late`: the wait lasts longer than it should."""

    text: Text
    since: datetime
    late: bool = False


@dataclass(frozen=True)
class Facts:
    """The times of an export's unsent messages by stream, and the status of its run."""

    unsent: Mapping[str, datetime]
    run_status: str | None
    has_worker: bool


def wait_statuses(jobs: Collection[ExportJob], now: datetime) -> dict[int, WaitStatus]:
    """The statuses by job id, without exports that do not wait."""
    live = [job for job in jobs if job.status in LIVE]
    if not live:
        return {}
    unsent, runs = _unsent_messages(live), _run_statuses(live)
    has_worker = _has_worker(now) if ExecutionStatus.PENDING in runs.values() else True
    statuses = {}
    for job in live:
        run_status = runs.get(job.execution_id) if job.execution_id else None
        if status := wait_status(job, Facts(unsent.get(job.pk, {}), run_status, has_worker), now):
            statuses[job.pk] = status
    return statuses


def wait_status(job: ExportJob, facts: Facts, now: datetime) -> WaitStatus | None:
    for stream, texts in ((RESULTS, RESULT_UNSENT), (REQUESTS, REQUEST_UNSENT)):
        if (since := facts.unsent.get(stream)) is not None:
            late = now - since > SEND_LIMIT
            return WaitStatus(texts[late], since, late)
    heard_at = job.heard_at or job.created_at
    if facts.run_status in EXECUTION_ENDED:
        late = now - heard_at > SILENCE_LIMIT
        return WaitStatus(_("The worker has finished; the result is on its way."), heard_at, late)
    if job.status == Status.RUNNING:
        limit = settings.DURE_EXPORT_STALL_SECONDS_BY_TYPE[job.job_type]
        return _silence_status(heard_at, now, timedelta(seconds=limit))
    return _queued_status(job, facts, now)


def _silence_status(heard_at: datetime, now: datetime, limit: timedelta) -> WaitStatus | None:
    silence = now - heard_at
    if silence <= SILENCE_LIMIT:
        return None
    if silence > 2 * limit:
        text = _("No messages from the worker, and the listener that should have ended the export is down.")
        return WaitStatus(text, heard_at, late=True)
    return WaitStatus(_("No messages from the worker."), heard_at, late=True)


def _queued_status(job: ExportJob, facts: Facts, now: datetime) -> WaitStatus:
    if facts.run_status == ExecutionStatus.RUNNING:
        return WaitStatus(_("A worker has started; no progress yet."), job.created_at)
    if facts.run_status == ExecutionStatus.PENDING:
        if facts.has_worker:
            return WaitStatus(_("Waiting for a free worker."), job.created_at)
        return WaitStatus(_("No online worker serves exports."), job.created_at, late=True)
    late = now - job.created_at > 2 * SILENCE_LIMIT
    return WaitStatus(_("Sent; not picked up by a worker yet."), job.created_at, late)


def outbox_stuck_since(now: datetime) -> datetime | None:
    """Since when the oldest message has waited, if that is longer than it should."""
    oldest = StreamOutbox.objects.order_by("id").values_list("created_at", flat=True).first()
    return oldest if oldest is not None and now - oldest > SEND_LIMIT else None


def _unsent_messages(jobs: Collection[ExportJob]) -> dict[int, dict[str, datetime]]:
    unsent: dict[int, dict[str, datetime]] = {}
    rows: Any = StreamOutbox.objects.filter(
        stream__in=(REQUESTS, RESULTS), fields__jobId__in=[str(job.pk) for job in jobs]
    )
    for stream, fields, created_at in rows.values_list("stream", "fields", "created_at"):
        unsent.setdefault(int(fields["jobId"]), {})[stream] = created_at
    return unsent


def _run_statuses(jobs: Collection[ExportJob]) -> dict[UUID, str]:
    ids = [job.execution_id for job in jobs if job.execution_id]
    return dict(Execution.objects.filter(pk__in=ids).values_list("id", "status")) if ids else {}


def _has_worker(now: datetime) -> bool:
    lease = timedelta(seconds=settings.DURE_LEASE_SECONDS)
    return Worker.objects.filter(seen_at__gt=now - lease, draining=False, roles__contains=[ROLE]).exists()
