"""Runs a Task by hand: one new Execution, unless exclusion.py finds a live one of the same owner."""

from typing import Any
from uuid import UUID

from django.db import transaction

from jobs import activity
from jobs import lifecycle as engine
from jobs.errors import Conflict
from jobs.specs import ExecutionSpec
from jobs.states import Act, Trigger
from scheduler import exclusion
from scheduler.clock import database_now
from scheduler.models import Occurrence, Schedule
from scheduler.schedules.execution_specs import spec_for
from scheduler.schedules.validation import check_task
from scheduler.states import OccurrenceOutcome


def run_task(task_id: str, args: dict[str, Any], *, owner_id: int) -> UUID:
    """Start an Execution for a user. Raises Conflict while another one of theirs has not ended."""
    task = check_task(task_id, args)
    owner = str(owner_id)
    spec = ExecutionSpec.for_task(task, owner=owner, trigger=Trigger.MANUAL, source=owner, args=args)
    with transaction.atomic():
        _start(spec)
        activity.record(Act.TASK_RUN, owner=owner_id, task_id=task_id, run=str(spec.id))
    return spec.id


def run_schedule(schedule: Schedule) -> UUID:
    """Run the Task of a schedule now, for the schedule's owner. The schedule's history has the run."""
    task = check_task(schedule.task_id, schedule.args)
    spec = spec_for(schedule, task, trigger=Trigger.MANUAL, source=exclusion.owner_of(schedule))
    with transaction.atomic():
        _start(spec)
        now = database_now()
        Occurrence.objects.create(
            schedule=schedule,
            due_at=now,
            outcome=OccurrenceOutcome.RUN,
            execution_id=spec.id,
            trigger=Trigger.MANUAL,
            decided_at=now,
        )
        run = str(spec.id)
        activity.record(Act.SCHEDULE_RUN, owner=schedule.owner_id, schedule=schedule.name, run=run)
    return spec.id


def _start(spec: ExecutionSpec) -> None:
    pair = (spec.source, spec.task_id)
    exclusion.lock([pair])
    if live := exclusion.live_runs([pair]).get(pair):
        raise Conflict(
            "task_running",
            code="already_running",
            task=spec.task_id,
            extra={"execution_id": str(live[0].execution)},
        )
    engine.start_executions([spec])
