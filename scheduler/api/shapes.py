"""What a schedule, an Execution and a workflow's run look like as JSON."""

from typing import Any

from jobs.models import Execution
from jobs.serialize import iso_time
from jobs.states import ExecutionStatus, Trigger
from scheduler.display import occurrence_reason_in_english
from scheduler.models import Occurrence, Schedule, Workflow, WorkflowRun
from scheduler.schedules import words
from scheduler.schedules.rules import Rule
from scheduler.states import RunStatus
from scheduler.workflows import recurrence

JSON = dict[str, Any]
LANGUAGES = ("ko", "en")


def schedule(one: Schedule) -> JSON:
    return {
        "id": str(one.id),
        "name": one.name,
        "task_id": one.task_id,
        "args": one.args,
        "kind": one.kind,
        "cron": one.cron or None,
        "every_seconds": one.every_seconds,
        "at": iso_time(one.at),
        "enabled": one.enabled,
        "timezone": one.timezone,
        "overlap": one.overlap,
        "catch_up": one.catch_up,
        "max_retries": one.max_retries,
        "starts_at": iso_time(one.starts_at),
        "ends_at": iso_time(one.ends_at),
        "words": words_of(one.rule),
        "next_run_at": iso_time(one.next_run_at),
        "last_run_at": iso_time(one.last_run_at),
        "last_execution_id": one.last_execution_id and str(one.last_execution_id),
        "created_at": iso_time(one.created_at),
        "updated_at": iso_time(one.updated_at),
    }


def words_of(rule: Rule) -> JSON:
    return {language: words.rule_in_words(rule, language) for language in LANGUAGES}


def turn(one: Occurrence) -> JSON:
    return {
        "due_at": iso_time(one.due_at),
        "turn": one.outcome,
        "reason": occurrence_reason_in_english(one.reason) or None,
        "execution_id": one.execution_id and str(one.execution_id),
        "decided_at": iso_time(one.decided_at),
    }


def execution(one: Execution) -> JSON:
    waits = one.status == ExecutionStatus.PENDING and one.attempt > 0
    return {
        "execution_id": str(one.id),
        "task_id": one.task_id,
        "trigger": one.trigger,
        "schedule_id": one.source if one.trigger == Trigger.SCHEDULE else None,
        "scheduled_for": iso_time(one.scheduled_for),
        "created_at": iso_time(one.created_at),
        "started_at": iso_time(one.started_at),
        "finished_at": iso_time(one.finished_at),
        "status": one.status,
        "retry_count": one.retry_count,
        "max_retries": one.max_retries,
        "next_retry_at": iso_time(one.due_at) if waits else None,
        "attempts": [
            {
                "number": attempt.number,
                "started_at": iso_time(attempt.started_at),
                "ended_at": iso_time(attempt.ended_at),
                "outcome": attempt.outcome,
                "failure_type": attempt.failure_type or None,
                "error": attempt.error or None,
                "instance": attempt.worker or None,
            }
            for attempt in one.attempts.all()
        ],
        "args": one.args,
        "result": one.result,
        "error": one.error or None,
        "instance": one.worker or None,
        "locked_until": iso_time(one.locked_until),
    }


def workflow(one: Workflow) -> JSON:
    config = recurrence.read(one.schedule_config)
    pending = next((run for run in one.runs.all() if run.status == RunStatus.PENDING), None)
    return {
        "id": str(one.id),
        "office": str(one.office_id),
        "name": one.name,
        "status": one.status,
        "steps": one.steps,
        "schedule_config": one.schedule_config,
        "words": {language: words.config_in_words(config, language) for language in LANGUAGES},
        "next_run_at": iso_time(pending.scheduled_time) if pending else None,
        "created_at": iso_time(one.created_at),
        "updated_at": iso_time(one.updated_at),
    }


def run(one: WorkflowRun) -> JSON:
    return {
        "id": str(one.id),
        "workflow_id": str(one.workflow_id),
        "workflow_data": one.workflow_data,
        "scheduled_time": iso_time(one.scheduled_time),
        "status": one.status,
        "created_at": iso_time(one.created_at),
        "updated_at": iso_time(one.updated_at),
        "executed_at": iso_time(one.executed_at),
        "ended_at": iso_time(one.ended_at),
        "retry_count": one.retry_count,
        "error_message": one.error_message or None,
        "batch": str(one.batch_id) if one.batch_id else None,
    }


def run_with_history(one: WorkflowRun) -> JSON:
    starts = [
        {
            "number": start.number,
            "started_at": iso_time(start.started_at),
            "ended_at": iso_time(start.ended_at),
            "status": start.status,
            "error_message": start.error_message or None,
        }
        for start in one.history.all()
    ]
    return {**run(one), "history": starts}
