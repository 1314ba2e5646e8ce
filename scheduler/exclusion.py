"""One run of a Task at once for each owner, whether a person or one of the owner's schedules starts it.

A schedule with the overlap policy "allow" takes no part: its runs are never skipped for another run of the
Task, and no other run is skipped or refused for them. A schedule without an owner counts as its own owner.
An exclusive Task has one run at a time whatever the policy: then a run of such a schedule waits.
Every start of a run locks the pair of owner and Task first, so of two at the same moment the second one sees
the first.
"""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from jobs.sql import call
from scheduler.models import Schedule
from scheduler.sql import statements

# An owner, as the `source` of a manual run names it, and a Task's id.
OwnedTask = tuple[str, str]


@dataclass(frozen=True)
class LiveRun:
    """An Execution that has not ended; `schedule` is empty for a run by hand."""

    execution: UUID
    schedule: UUID | None


def owner_of(schedule: Schedule) -> str:
    return str(schedule.id if schedule.owner_id is None else schedule.owner_id)


def lock(pairs: Collection[OwnedTask]) -> None:
    """Wait for everybody else who starts a run of these, until the end of the transaction."""
    if pairs:
        call.rows(statements.LOCK_OWNED_TASKS, _parameters(pairs))


def try_lock(pairs: Collection[OwnedTask]) -> set[OwnedTask]:
    """Lock those that nobody else holds, so that a frozen process delays no beat; which they are."""
    rows = call.rows(statements.TRY_LOCK_OWNED_TASKS, _parameters(pairs)) if pairs else ()
    return {(owner, task) for owner, task, is_locked in rows if is_locked}


def live_runs(pairs: Collection[OwnedTask]) -> dict[OwnedTask, list[LiveRun]]:
    """The runs that exclude others, of those of the pairs that have any."""
    live: dict[OwnedTask, list[LiveRun]] = {}
    if pairs:
        for owner, task, execution, schedule in call.rows(statements.LIVE_RUNS_OF_OWNERS, _parameters(pairs)):
            live.setdefault((owner, task), []).append(LiveRun(execution, schedule))
    return live


def _parameters(pairs: Collection[OwnedTask]) -> dict[str, object]:
    return {"owners": [owner for owner, _ in pairs], "tasks": [task for _, task in pairs]}
