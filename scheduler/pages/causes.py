"""The cause of an Execution, with the address of its page, if it still exists."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext

from jobs.models import Execution
from jobs.states import Trigger
from scheduler.models import Schedule
from scheduler.runs.rows import Run
from scheduler.schedules.history import schedules_of_executions
from scheduler.steps.models import StepQueue


@dataclass(frozen=True)
class Cause:
    text: str = ""
    address: str = ""


def causes_of(runs: Sequence[Execution]) -> dict[UUID, Cause]:
    """The causes of all Executions of a page, in a few queries."""
    schedules = schedules_of_executions(runs)
    people = _people({run.source for run in runs if run.trigger == Trigger.MANUAL})
    queues = queues_of_executions(runs)
    return {run.id: _cause(run, schedules.get(run.id), people, queues) for run in runs}


def causes_of_rows(rows: Sequence[Run]) -> dict[UUID, Cause]:
    """Those of the runs without a job in a list of runs."""
    return causes_of([row.execution for row in rows if row.execution and not row.job])


def queues_of_executions(runs: Iterable[Execution]) -> dict[UUID, int]:
    """The step queue of each Execution that is a step of one, without deleted queues. One query."""
    sources = {run.id: run.source.partition(":")[0] for run in runs if run.trigger == Trigger.STEP}
    numbers = {run: int(queue) for run, queue in sources.items() if queue.isdecimal()}
    if not numbers:
        return {}
    existing = set(StepQueue.objects.filter(pk__in=set(numbers.values())).values_list("pk", flat=True))
    return {run: queue for run, queue in numbers.items() if queue in existing}


def _cause(
    run: Execution, schedule: Schedule | None, people: dict[str, str], queues: dict[UUID, int]
) -> Cause:
    if run.job_id is not None and run.office_id is not None:
        name = run.job.ref or run.task_id if run.job is not None else run.task_id
        return Cause(name, reverse("pages:job", args=[run.office_id, run.job_id]))
    if schedule is not None:
        if schedule.deleted_at:
            return _deleted_cause(schedule.name)
        return Cause(schedule.name, reverse("scheduler:schedule", args=[schedule.id]))
    match run.trigger:
        case Trigger.MANUAL:
            return Cause(people.get(run.source, ""))
        case Trigger.STEP:
            name = f"#{run.source.partition(':')[0]}"
            queue = queues.get(run.id)
            return Cause(name, reverse("steps:queue", args=[queue])) if queue else _deleted_cause(name)
        case Trigger.EXPORT:
            # Only staff see these runs. The export's page is its owner's.
            return Cause(f"#{run.source}", _address("admin:exports_exportjob_change", run.source))
    return Cause()


def _deleted_cause(name: str) -> Cause:
    return Cause(gettext("%(name)s (deleted)") % {"name": name})


def _people(sources: set[str]) -> dict[str, str]:
    ids = [int(source) for source in sources if source.isdecimal()]
    rows = User.objects.filter(pk__in=ids).values_list("pk", "username") if ids else ()
    return {str(number): name for number, name in rows}


def _address(name: str, number: str) -> str:
    # Pages of the app above, which this app does not import.
    try:
        return reverse(name, args=[int(number)])
    except (NoReverseMatch, ValueError):
        return ""
