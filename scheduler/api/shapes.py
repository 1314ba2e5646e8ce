"""The JSON of Executions, and of the next times of a rule."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Prefetch

from jobs.api_model import JSON
from jobs.models import Attempt, Execution
from jobs.states import ExecutionStatus, Trigger
from scheduler.api import schemas
from scheduler.models import Schedule
from scheduler.schedules import clock_changes
from scheduler.schedules.history import schedules_of_executions
from scheduler.schedules.rules import Rule


def next_times_json(rule: Rule, times: list[datetime], now: datetime) -> JSON:
    changes = clock_changes.of_rule(rule, now)
    return schemas.NextTimesOut.write({"next": times, "clock_changes": changes, "rule": rule})


def attempts_of_lists() -> "Prefetch[str, Any, Any]":
    """The attempts without their tracebacks, which may be 64 KiB each."""
    return Prefetch("attempts", Attempt.objects.defer("traceback"))


def traceback_of(attempt: Attempt) -> str | None:
    return None if "traceback" in attempt.get_deferred_fields() else attempt.traceback or None


def executions_json(executions: Sequence[Execution]) -> list[JSON]:
    schedules = schedules_of_executions(executions)
    return [_execution_json(execution, schedules.get(execution.id)) for execution in executions]


def execution_json(execution: Execution) -> JSON:
    return executions_json([execution])[0]


def _execution_json(execution: Execution, schedule: Schedule | None) -> JSON:
    is_waiting = execution.status == ExecutionStatus.PENDING and execution.attempt > 0
    attempts = execution.attempts.all()
    return schemas.ExecutionOut.write(
        execution,
        schedule_id=schedule.id if schedule else _source_schedule(execution),
        schedule_name=schedule.name if schedule else None,
        next_retry_at=execution.due_at if is_waiting else None,
        attempts=[
            schemas.ExecutionAttemptOut.of(attempt, traceback=traceback_of(attempt)) for attempt in attempts
        ],
    )


def _source_schedule(execution: Execution) -> str | None:
    return execution.source if execution.trigger == Trigger.SCHEDULE else None
