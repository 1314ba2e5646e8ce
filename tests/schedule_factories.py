"""Factories for schedules and workflows. Time is an argument: nothing here reads a clock."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User

from jobs import lifecycle as engine
from jobs.models import Execution, Office
from jobs.states import Outcome
from scheduler.models import Occurrence, Schedule, Workflow
from scheduler.schedules import lifecycle as schedules
from scheduler.schedules.firing import FiringResult, fire_due
from scheduler.workflows import lifecycle as workflows
from tests.factories import Claimed, an_office

# A Wednesday, nine o'clock in Seoul.
T0 = datetime(2026, 11, 18, 0, 0, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def a_schedule(now: datetime = T0, owner: User | None = None, **fields: Any) -> Schedule:
    """A schedule, by default for every minute."""
    defaults = {
        "name": "sums",
        "task_id": "demo.sum",
        "args": {"numbers": [1, 2]},
        "kind": "interval",
        **({} if "kind" in fields else {"every_seconds": 60}),
        **fields,
    }
    return schedules.create(defaults, owner=owner, now=now)


def fire(schedule: Schedule, late: float = 0) -> FiringResult:
    """Fires due schedules when this schedule is due, or so many seconds later."""
    assert schedule.next_run_at is not None
    return fire_due(schedule.next_run_at + timedelta(seconds=late))


def turns(schedule: Schedule) -> list[tuple[float, str]]:
    """Each due time, in seconds after T0, with its decision."""
    rows = Occurrence.objects.filter(schedule=schedule).order_by("due_at")
    return [((row.due_at - T0).total_seconds(), row.outcome) for row in rows]


def executions(schedule: Schedule) -> list[Execution]:
    return list(Execution.objects.filter(source=str(schedule.id)).order_by("scheduled_for"))


def claim(execution: Execution, worker: str = "w@test") -> Claimed:
    execution.refresh_from_db()
    claim = engine.claim(str(execution.id), execution.dispatch, token="t", worker=worker)
    assert claim is not None
    return Claimed(claim)


def end(execution: Execution, outcome: str = Outcome.SUCCESS) -> None:
    assert claim(execution).finish(outcome) is not None


def a_step(ref: str, *depends_on: str, **fields: Any) -> dict[str, Any]:
    return {
        "ref": ref,
        "task_id": "demo.sum",
        "args": {"numbers": [1]},
        "depends_on": list(depends_on),
        **fields,
    }


DAILY = {"mode": "recurring", "pattern": "daily", "time": "09:00"}


def a_workflow(office: Office | None = None, now: datetime = T0, **fields: Any) -> Workflow:
    """A workflow, by default active, daily at nine, with two steps in a row."""
    defaults = {
        "name": "report",
        "status": "active",
        "steps": [a_step("a"), a_step("b", "a")],
        "schedule_config": DAILY,
        **fields,
    }
    return workflows.create(office or an_office(), defaults, now=now)
