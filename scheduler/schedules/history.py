"""The Executions of a schedule, and the schedules of Executions: by its rule, and by hand with "Run now".

Deleted schedules count too, as long as they are kept.
"""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Q

from jobs.models import Execution
from jobs.states import Trigger
from scheduler.models import Occurrence, Schedule

# The newest runs by hand of a schedule; older ones are left out of its Executions.
MANUAL_RUNS = 1_000


def of_schedule(schedule: UUID) -> Q:
    """The condition on Executions of this schedule."""
    by_rule = Q(trigger=Trigger.SCHEDULE, source=str(schedule)) & ~Q(source="")
    runs = Occurrence.objects.filter(schedule=schedule, trigger=Trigger.MANUAL).order_by("-due_at")
    # As values: with a subquery PostgreSQL would read the whole table.
    by_hand = list(runs.values_list("execution_id", flat=True)[:MANUAL_RUNS])
    return by_rule | Q(pk__in=by_hand) if by_hand else by_rule


def recent_occurrences(schedule: Schedule, count: int) -> list[tuple[Occurrence, Execution | None]]:
    """The newest scheduled runs of a schedule, each with its Execution as long as that is kept."""
    occurrences = list(schedule.occurrences.order_by("-due_at")[:count])
    ids = [occurrence.execution_id for occurrence in occurrences if occurrence.execution_id]
    executions = Execution.objects.defer("args", "result").in_bulk(ids)
    return [(row, executions.get(row.execution_id) if row.execution_id else None) for row in occurrences]


def schedules_of_executions(executions: Sequence[Execution]) -> dict[UUID, Schedule]:
    """The schedule of each Execution that has one, in two queries."""
    ids = {run.id: run.source for run in executions if run.trigger == Trigger.SCHEDULE}
    by_hand = [run.id for run in executions if run.trigger == Trigger.MANUAL]
    if by_hand:
        runs = Occurrence.objects.filter(trigger=Trigger.MANUAL, execution_id__in=by_hand)
        ids |= {run.execution_id: str(run.schedule_id) for run in runs if run.execution_id}
    if not ids:
        return {}
    rows = Schedule.with_deleted.only("name", "deleted_at").filter(pk__in=set(ids.values()))
    schedules = {str(schedule.id): schedule for schedule in rows}
    return {run: schedules[source] for run, source in ids.items() if source in schedules}
