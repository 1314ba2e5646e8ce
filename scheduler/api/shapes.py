"""The JSON of schedules, occurrences, Executions, workflows and their runs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Prefetch

from jobs.api_model import JSON
from jobs.models import Attempt, Execution
from jobs.states import ExecutionStatus, Trigger
from scheduler.api import schemas
from scheduler.display import occurrence_reason_in_english
from scheduler.models import Calendar, Occurrence, Schedule, Workflow
from scheduler.schedules import clock_changes, words
from scheduler.schedules.history import schedules_of_executions
from scheduler.schedules.rules import Rule
from scheduler.workflows import recurrence

LANGUAGES = ("ko", "en")


def schedule_json(schedule: Schedule) -> JSON:
    return schemas.ScheduleOut.write(schedule, words=rule_words(schedule.rule))


def calendar_json(calendar: Calendar) -> JSON:
    windows = [
        {name: datetime.fromisoformat(window[name]) for name in ("starts_at", "ends_at")}
        for window in calendar.windows
    ]
    return schemas.CalendarOut.write(calendar, windows=windows)


def rule_words(rule: Rule) -> JSON:
    return {language: words.rule_in_words(rule, language) for language in LANGUAGES}


def next_times_json(rule: Rule, times: list[datetime], now: datetime) -> JSON:
    changes = [
        {
            "change": change.change.value,
            "local_time": change.clock.isoformat(" ", "minutes"),
            "runs_at": change.runs_at,
        }
        for change in clock_changes.of_rule(rule, now)
    ]
    return schemas.NextTimesOut.write({"next": times, "clock_changes": changes, "words": rule_words(rule)})


def occurrence_json(occurrence: Occurrence) -> JSON:
    reason = occurrence_reason_in_english(occurrence.reason)
    return schemas.OccurrenceOut.write(occurrence, reason=reason)


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


def workflow_json(workflow: Workflow) -> JSON:
    config = recurrence.read(workflow.schedule_config)
    config_words = {language: words.config_in_words(config, language) for language in LANGUAGES}
    return schemas.WorkflowOut.write(workflow, words=config_words)
