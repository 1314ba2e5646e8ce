"""Runs a Task by hand: one new Execution, unless a scheduled or manual one of the Task is live."""

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
from scheduler.schedules.validation import check_task

EXCLUSIVE = (Trigger.SCHEDULE, Trigger.MANUAL)


def run_task(task_id: str, args: dict[str, Any], *, user_id: object) -> UUID:
    """Start an Execution. Raises Conflict while a scheduled or manual one of the Task has not ended."""
    task = check_task(task_id, args)
    with transaction.atomic():
        # Concurrent requests wait here, so each sees the commit of the previous one.
        call.rows(sql.LOCK_TASK, [task_id])
        live = Execution.objects.filter(
            task_id=task_id, trigger__in=EXCLUSIVE, status__in=EXECUTION_LIVE
        ).first()
        if live is not None:
            raise Conflict(
                "task_running",
                code="already_running",
                task=task_id,
                extra={"execution_id": str(live.id)},
            )
        spec = ExecutionSpec.for_task(task, trigger=Trigger.MANUAL, source=str(user_id), args=args)
        engine.start_executions([spec])
    return spec.id
