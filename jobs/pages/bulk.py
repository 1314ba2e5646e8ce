"""One verb for many jobs: who would be changed, who skipped, and the doing of it piece by piece."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, QuerySet

from jobs import lifecycle
from jobs.errors import Conflict
from jobs.models import Job, Office
from jobs.selection import in_states
from jobs.states import JOB_LIVE, JOB_RETRYABLE, JobStatus

# The office's lock is held for a piece, so that its other work goes on between two.
PIECE = 500
MOST = 20_000
# Whoever acts on more of those that match than this says so by typing how many they are.
TYPED_ABOVE = 100

APPLIES_TO: dict[str, tuple[str, ...]] = {
    "cancel": JOB_LIVE,
    "retry": JOB_RETRYABLE,
    "reprioritise": JOB_LIVE,
}


@dataclass(frozen=True)
class Wish:
    verb: str
    actor: str
    reason: str = ""
    priority: int | None = None
    delta: int | None = None
    urgent: bool | None = None


@dataclass(frozen=True)
class Preview:
    changed: int
    skipped: int
    # Of the skipped: how many are in which state.
    skipped_by_state: dict[str, int]
    beyond: int
    # Of the changed: how many run at this moment.
    running: int


@dataclass(frozen=True)
class Done:
    changed: int
    skipped: int


def preview(jobs: QuerySet[Job], verb: str) -> Preview:
    counts = dict(jobs.order_by().values_list("status").annotate(number=Count("*")))
    changed = sum(number for status, number in counts.items() if status in APPLIES_TO[verb])
    skipped = {status: number for status, number in counts.items() if status not in APPLIES_TO[verb]}
    running = counts.get(JobStatus.PROCESSING, 0) if JobStatus.PROCESSING in APPLIES_TO[verb] else 0
    return Preview(min(changed, MOST), sum(skipped.values()), skipped, max(0, changed - MOST), running)


def apply(office: Office, jobs: QuerySet[Job], wish: Wish) -> Done:
    """Each piece is a transaction of its own; what changed meanwhile is skipped by the verb's own guard."""
    fitting = jobs.filter(in_states(APPLIES_TO[wish.verb])).order_by("seq")
    ids = list(fitting.values_list("id", flat=True)[:MOST])
    act = VERBS[wish.verb]
    changed = sum(act(office.id, piece, wish) for piece in pieces(ids))
    return Done(changed, len(ids) - changed)


def pieces(ids: list[UUID]) -> Iterator[list[UUID]]:
    for start in range(0, len(ids), PIECE):
        yield ids[start : start + PIECE]


def cancel(office: UUID, ids: list[UUID], wish: Wish) -> int:
    return lifecycle.cancel(office, ids, actor=wish.actor, reason=wish.reason).total


def retry(office: UUID, ids: list[UUID], wish: Wish) -> int:
    try:
        return lifecycle.retry(office, ids, actor=wish.actor, reason=wish.reason)
    except Conflict:
        # A newer job has the unique_key of one of them: that one is skipped, not all.
        return 0 if len(ids) == 1 else sum(retry(office, [one], wish) for one in ids)


def reprioritise(office: UUID, ids: list[UUID], wish: Wish) -> int:
    return lifecycle.reprioritise(
        office,
        ids,
        priority=wish.priority,
        urgent=wish.urgent,
        delta=wish.delta,
        actor=wish.actor,
        reason=wish.reason,
    )


VERBS: dict[str, Callable[[UUID, list[UUID], Wish], int]] = {
    "cancel": cancel,
    "retry": retry,
    "reprioritise": reprioritise,
}
