"""Cancels at one stroke all jobs of an office that fit a wish."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from jobs import lifecycle
from jobs.answers import Cancelled
from jobs.models import Job
from jobs.selection import in_states
from jobs.sql import call, statements
from jobs.states import JOB_LIVE, JobStatus


@dataclass(frozen=True)
class CancelWish:
    """Which jobs: those that fit everything that is given."""

    batch: UUID | None = None
    statuses: Sequence[str] = JOB_LIVE
    role: str = ""
    include_processing: bool = True


def cancel_matching(office: UUID, wish: CancelWish, *, actor: str, reason: str = "") -> Cancelled:
    """How many were cancelled at once, and how many were told to stop."""
    statuses = set(wish.statuses)
    if not wish.include_processing:
        statuses.discard(JobStatus.PROCESSING)
    with transaction.atomic():
        # Before they are looked for: none of them may start between being chosen and being cancelled.
        call.rows(statements.LOCK_OFFICE, [office])
        found = Job.objects.filter(in_states(statuses), office_id=office)
        if wish.batch is not None:
            found = found.filter(batch_id=wish.batch)
        if wish.role:
            found = found.filter(role=wish.role)
        return lifecycle.cancel(office, list(found.values_list("id", flat=True)), actor=actor, reason=reason)
