"""The cause of an Execution, with the address of its page."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from django.urls import NoReverseMatch, reverse

from jobs.models import Execution
from jobs.states import Trigger
from scheduler.access import schedules_of


@dataclass(frozen=True)
class Cause:
    text: str = ""
    address: str = ""


def causes_of(runs: Sequence[Execution], user: User) -> dict[UUID, Cause]:
    """The causes of all Executions of a page, in a few queries."""
    names = _schedules({run.source for run in runs if run.trigger == Trigger.SCHEDULE}, user)
    people = _people({run.source for run in runs if run.trigger == Trigger.MANUAL})
    return {run.id: _cause(run, names, people) for run in runs}


def _cause(run: Execution, schedules: dict[str, str], people: dict[str, str]) -> Cause:
    if run.job_id is not None and run.office_id is not None:
        name = run.job.ref or run.task_id if run.job is not None else run.task_id
        return Cause(name, reverse("pages:job", args=[run.office_id, run.job_id]))
    match run.trigger:
        case Trigger.SCHEDULE if run.source in schedules:
            return Cause(schedules[run.source], reverse("scheduler:schedule", args=[run.source]))
        case Trigger.MANUAL:
            return Cause(people.get(run.source, ""))
        case Trigger.STEP:
            queue = run.source.partition(":")[0]
            return Cause(f"#{queue}", _address("steps:queue", queue))
        case Trigger.EXPORT:
            return Cause(f"#{run.source}", _address("exports:export", run.source))
    return Cause()


def _schedules(sources: set[str], user: User) -> dict[str, str]:
    rows = schedules_of(user).filter(pk__in=sources).values_list("id", "name") if sources else ()
    return {str(schedule): name for schedule, name in rows}


def _people(sources: set[str]) -> dict[str, str]:
    ids = [int(source) for source in sources if source.isdecimal()]
    rows = User.objects.filter(pk__in=ids).values_list("pk", "username") if ids else ()
    return {str(number): name for number, name in rows}


def _address(name: str, number: str) -> str:
    # Pages of the apps above, which this app does not import.
    try:
        return reverse(name, args=[int(number)])
    except (NoReverseMatch, ValueError):
        return ""
