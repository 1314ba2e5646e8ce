"""One verb for many jobs: how many it would change, which it would skip, and applying it in pieces."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Count, QuerySet

from jobs import lifecycle
from jobs.answers import CancelResult, RetryResult
from jobs.errors import Conflict
from jobs.models import Execution, Job
from jobs.selection import in_states
from jobs.sql import call, statements
from jobs.states import JOB_LIVE, JOB_RETRYABLE, JobStatus

# One piece holds the office's lock, so that its other work continues between two pieces.
PIECE = 500
MOST = 20_000
# An action on more matching jobs than this has to be confirmed by typing their number.
TYPED_ABOVE = 100

CANCEL, RETRY, REPRIORITISE = "cancel", "retry", "reprioritise"
APPLIES_TO: dict[str, tuple[str, ...]] = {
    CANCEL: JOB_LIVE,
    RETRY: JOB_RETRYABLE,
    REPRIORITISE: JOB_LIVE,
}


@dataclass(frozen=True)
class Action:
    """A verb with its arguments, and who does it why."""

    verb: str
    actor: str
    reason: str = ""
    priority: int | None = None
    delta: int | None = None
    urgent: bool | None = None


@dataclass(frozen=True)
class Preview:
    """The effect that an action would have. `beyond` counts the matching jobs beyond the action's limit."""

    changed: int
    beyond: int
    # The number of changed jobs that are running.
    running: int
    skipped_by_state: dict[str, int]
    # The ids of the offices, the one with most jobs first.
    offices: list[UUID]

    @property
    def skipped(self) -> int:
        return sum(self.skipped_by_state.values())


@dataclass(frozen=True)
class Result:
    changed: int
    # These fitted when they were selected, and the verb refused them: they had changed, a newer job has their
    # unique_key, or what they depend on has to be retried first.
    refused: int


def preview(
    jobs: QuerySet[Job], verb: str, *, most: int | None = MOST, counted: int | None = None
) -> Preview:
    """Count exactly, or only up to so many `counted` rows of those that fit and of those that do not."""
    fitting, others = Counter[str](), Counter[str]()
    offices = Counter[UUID]()
    for office, status, number in _counts(fitting_jobs(jobs, verb), counted):
        fitting[status] += number
        offices[office] += number
    for _office, status, number in _counts(skipped_jobs(jobs, verb), counted):
        others[status] += number
    total = fitting.total()
    changed = total if most is None else min(total, most)
    running = fitting[JobStatus.PROCESSING]
    return Preview(
        changed, total - changed, running, dict(others), [office for office, _ in offices.most_common()]
    )


def fitting_jobs(jobs: QuerySet[Job], verb: str) -> QuerySet[Job]:
    return jobs.filter(in_states(APPLIES_TO[verb]))


def skipped_jobs(jobs: QuerySet[Job], verb: str) -> QuerySet[Job]:
    return jobs.filter(in_states([status for status in JobStatus if status not in APPLIES_TO[verb]]))


def _counts(jobs: QuerySet[Job], counted: int | None) -> QuerySet[Job, tuple[UUID, str, int]]:
    jobs = jobs.order_by()
    if counted is not None:
        jobs = Job.objects.filter(pk__in=jobs.values("pk")[:counted]).order_by()
    return jobs.values_list("office_id", "status").annotate(number=Count("*"))


def apply(jobs: QuerySet[Job], action: Action, *, most: int | None = MOST) -> Result:
    """Apply it office by office, in pieces that are transactions of their own; the verb guards each job."""
    fitting = fitting_jobs(jobs, action.verb)
    changed = selected = 0
    for office in list(fitting.order_by().values_list("office_id", flat=True).distinct()):
        ordered = fitting.filter(office_id=office).order_by("seq").values_list("id", flat=True)
        ids = list(ordered if most is None else ordered[: most - selected])
        selected += len(ids)
        changed += _retry(office, ids, action) if action.verb == RETRY else _apply_to(office, ids, action)
    return Result(changed, selected - changed)


def pieces(ids: Sequence[UUID]) -> Iterator[Sequence[UUID]]:
    for start in range(0, len(ids), PIECE):
        yield ids[start : start + PIECE]


def cancel_executions(executions: Iterable[Execution], *, actor: str, reason: str) -> int:
    """Cancel Executions, or request it, and return their number. Those of jobs are cancelled with their jobs.

    The others have ended meanwhile, or their job has another Execution by now.
    """
    owned: dict[UUID, list[UUID]] = {}
    alone = 0
    for run in executions:
        if run.office_id is not None:
            owned.setdefault(run.office_id, []).append(run.id)
        elif lifecycle.cancel_execution(run.id) is not None:
            alone += 1
    return alone + sum(
        _cancel_jobs_of(office, piece, actor, reason)
        for office, ids in owned.items()
        for piece in pieces(ids)
    )


def _cancel_jobs_of(office: UUID, executions: Sequence[UUID], actor: str, reason: str) -> int:
    of_jobs = Execution.objects.filter(pk__in=executions).values_list("job_id", flat=True)
    current = Job.objects.filter(pk__in=list(of_jobs), execution__in=executions).values_list("pk", flat=True)
    return lifecycle.cancel(office, list(current), actor=actor, reason=reason).total


def _apply_to(office: UUID, ids: Sequence[UUID], action: Action) -> int:
    actor, reason = action.actor, action.reason
    if action.verb == CANCEL:
        return sum(lifecycle.cancel(office, piece, actor=actor, reason=reason).total for piece in pieces(ids))
    return sum(
        lifecycle.reprioritise(
            office,
            piece,
            priority=action.priority,
            urgent=action.urgent,
            delta=action.delta,
            actor=actor,
            reason=reason,
        )
        for piece in pieces(ids)
    )


def _retry(office: UUID, ids: Sequence[UUID], action: Action) -> int:
    """Retry piece by piece. A job whose dependency is in a later piece is retried in another pass."""
    changed = 0
    while ids:
        answers = [answer for piece in pieces(ids) for answer in _retry_piece(office, piece, action)]
        moved = sum(answer.count for answer in answers)
        changed += moved
        ids = [job for answer in answers for job in answer.blocked] if moved else []
    return changed


def _retry_piece(office: UUID, ids: Sequence[UUID], action: Action) -> Iterator[RetryResult]:
    try:
        yield lifecycle.retry(office, ids, actor=action.actor, reason=action.reason)
    except Conflict:
        # A newer job has the unique_key of one of them: that one is refused, not all.
        if len(ids) > 1:
            for job in ids:
                yield from _retry_piece(office, [job], action)


def cancel_matching(
    office: UUID,
    statuses: Sequence[str] = JOB_LIVE,
    *,
    batch: UUID | None = None,
    role: str = "",
    include_processing: bool = True,
    actor: str,
    reason: str,
) -> CancelResult:
    """Cancel all matching jobs in one transaction; return how many are cancelled, and how many will stop."""
    selected = set(statuses) - (set() if include_processing else {JobStatus.PROCESSING})
    with transaction.atomic():
        # Locked before the jobs are selected: none of them may start between selection and cancellation.
        call.rows(statements.LOCK_OFFICE, [office])
        jobs = Job.objects.filter(in_states(selected), office_id=office)
        if batch is not None:
            jobs = jobs.filter(batch_id=batch)
        if role:
            jobs = jobs.filter(role=role)
        return lifecycle.cancel(office, list(jobs.values_list("id", flat=True)), actor=actor, reason=reason)
