"""The JSON of schedules, occurrences, Executions, workflows and their runs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Prefetch

from jobs.models import Attempt, Execution
from jobs.serialize import iso_time
from jobs.states import ExecutionStatus, Trigger
from scheduler.display import occurrence_reason_in_english
from scheduler.models import Calendar, Occurrence, Schedule, Workflow, WorkflowRun
from scheduler.schedules import words
from scheduler.schedules.clock_changes import ClockChange
from scheduler.schedules.history import schedules_of_executions
from scheduler.schedules.rules import Rule
from scheduler.states import RunStatus
from scheduler.workflows import recurrence

JSON = dict[str, Any]
LANGUAGES = ("ko", "en")


def schedule_json(schedule: Schedule) -> JSON:
    return {
        "id": str(schedule.id),
        "name": schedule.name,
        "task_id": schedule.task_id,
        "args": schedule.args,
        "kind": schedule.kind,
        "cron": schedule.cron or None,
        "every_seconds": schedule.every_seconds,
        "at": iso_time(schedule.at),
        "enabled": schedule.enabled,
        "timezone": schedule.timezone,
        "overlap": schedule.overlap,
        "catch_up": schedule.catch_up,
        "grace": schedule.grace,
        "calendar": schedule.calendar_id and str(schedule.calendar_id),
        "max_retries": schedule.max_retries,
        "retry_backoff": schedule.retry_backoff or None,
        "retry_base_delay": schedule.retry_base_delay,
        "timeout_ms": schedule.timeout_ms,
        "on_lost": schedule.on_lost or None,
        "notify_after_failures": schedule.notify_after_failures,
        "notify_after_missed": schedule.notify_after_missed,
        "notify_office": schedule.notify_office_id and str(schedule.notify_office_id),
        "failing_since": iso_time(schedule.failing_since),
        "starts_at": iso_time(schedule.starts_at),
        "ends_at": iso_time(schedule.ends_at),
        "words": rule_words(schedule.rule),
        "next_run_at": iso_time(schedule.next_run_at),
        "last_run_at": iso_time(schedule.last_run_at),
        "last_execution_id": schedule.last_execution_id and str(schedule.last_execution_id),
        "created_at": iso_time(schedule.created_at),
        "updated_at": iso_time(schedule.updated_at),
    }


def calendar_json(calendar: Calendar) -> JSON:
    return {
        "id": str(calendar.id),
        "name": calendar.name,
        "dates": calendar.dates,
        "windows": [
            {name: iso_time(datetime.fromisoformat(window[name])) for name in ("starts_at", "ends_at")}
            for window in calendar.windows
        ],
        "timezone": calendar.timezone,
        "created_at": iso_time(calendar.created_at),
        "updated_at": iso_time(calendar.updated_at),
    }


def rule_words(rule: Rule) -> JSON:
    return {language: words.rule_in_words(rule, language) for language in LANGUAGES}


def clock_change_json(change: ClockChange) -> JSON:
    return {
        "change": change.change.value,
        "local_time": change.clock.isoformat(" ", "minutes"),
        "runs_at": [iso_time(at) for at in change.runs_at],
    }


def occurrence_json(occurrence: Occurrence) -> JSON:
    return {
        "due_at": iso_time(occurrence.due_at),
        "turn": occurrence.outcome,
        "trigger": occurrence.trigger,
        "reason": occurrence_reason_in_english(occurrence.reason) or None,
        "execution_id": occurrence.execution_id and str(occurrence.execution_id),
        "decided_at": iso_time(occurrence.decided_at),
    }


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
    return {
        "execution_id": str(execution.id),
        "task_id": execution.task_id,
        "trigger": execution.trigger,
        "schedule_id": str(schedule.id) if schedule else _source_schedule(execution),
        "schedule_name": schedule.name if schedule else None,
        "scheduled_for": iso_time(execution.scheduled_for),
        "created_at": iso_time(execution.created_at),
        "started_at": iso_time(execution.started_at),
        "finished_at": iso_time(execution.finished_at),
        "status": execution.status,
        "retry_count": execution.retry_count,
        "max_retries": execution.max_retries,
        "next_retry_at": iso_time(execution.due_at) if is_waiting else None,
        "attempts": [
            {
                "number": attempt.number,
                "started_at": iso_time(attempt.started_at),
                "timeout_at": iso_time(attempt.timeout_at),
                "ended_at": iso_time(attempt.ended_at),
                "outcome": attempt.outcome,
                "failure_type": attempt.failure_type or None,
                "error": attempt.error or None,
                "traceback": traceback_of(attempt),
                "instance": attempt.worker or None,
                "session_id": attempt.session_id or None,
            }
            for attempt in execution.attempts.all()
        ],
        "args": execution.args,
        "result": execution.result,
        "error": execution.error or None,
        "instance": execution.worker or None,
        "locked_until": iso_time(execution.locked_until),
    }


def _source_schedule(execution: Execution) -> str | None:
    return execution.source if execution.trigger == Trigger.SCHEDULE else None


def workflow_json(workflow: Workflow) -> JSON:
    config = recurrence.read(workflow.schedule_config)
    pending = next((row for row in workflow.runs.all() if row.status == RunStatus.PENDING), None)
    return {
        "id": str(workflow.id),
        "office": str(workflow.office_id),
        "name": workflow.name,
        "status": workflow.status,
        "version": workflow.version,
        "steps": workflow.steps,
        "schedule_config": workflow.schedule_config,
        "max_run_retries": workflow.max_run_retries,
        "input_schema": workflow.input_schema,
        "words": {language: words.config_in_words(config, language) for language in LANGUAGES},
        "next_run_at": iso_time(pending.scheduled_time) if pending else None,
        "created_at": iso_time(workflow.created_at),
        "updated_at": iso_time(workflow.updated_at),
    }


def run_json(run: WorkflowRun) -> JSON:
    return {
        "id": str(run.id),
        "workflow_id": str(run.workflow_id),
        "workflow_data": run.workflow_data,
        "input": run.input,
        "scheduled_time": iso_time(run.scheduled_time),
        "status": run.status,
        "created_at": iso_time(run.created_at),
        "updated_at": iso_time(run.updated_at),
        "executed_at": iso_time(run.executed_at),
        "ended_at": iso_time(run.ended_at),
        "retry_count": run.retry_count,
        "error_message": run.error_message or None,
        "batch": str(run.batch_id) if run.batch_id else None,
    }


def run_with_history_json(run: WorkflowRun) -> JSON:
    starts = [
        {
            "number": start.number,
            "started_at": iso_time(start.started_at),
            "ended_at": iso_time(start.ended_at),
            "status": start.status,
            "error_message": start.error_message or None,
        }
        for start in run.history.all()
    ]
    return {**run_json(run), "history": starts}
