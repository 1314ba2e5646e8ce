"""Runs a Task by hand: always a new Execution, and none while one of the same Task is under way."""

from typing import Any
from uuid import UUID

from django.db import transaction

from jobs import lifecycle as engine
from jobs.errors import Conflict
from jobs.models import Execution
from jobs.specs import ExecutionSpec
from jobs.sql import call
from jobs.states import EXECUTION_LIVE, Trigger
from scheduler import sql
from scheduler.workflows.definition import check_task

EXCLUSIVE = (Trigger.SCHEDULE, Trigger.MANUAL)


def run_task(task_id: str, args: dict[str, Any], *, user_id: object) -> UUID:
    """PENDING, or Conflict while a scheduled or manual Execution of this Task has not ended."""
    task = check_task(task_id, args)
    with transaction.atomic():
        # Of any number of requests at once each looks after the one before it has committed.
        call.rows(sql.LOCK_TASK, [task_id])
        live = Execution.objects.filter(
            task_id=task_id, trigger__in=EXCLUSIVE, status__in=EXECUTION_LIVE
        ).first()
        if live is not None:
            raise Conflict(
                f"An Execution of {task_id} has not ended.",
                code="already_running",
                extra={"execution_id": str(live.id)},
            )
        spec = ExecutionSpec.for_task(task, trigger=Trigger.MANUAL, source=str(user_id), args=args)
        engine.start_executions([spec])
    return spec.id
