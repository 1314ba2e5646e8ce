"""What a schedule, an Execution and a workflow's run look like as JSON, and how OpenAPI describes them."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from jobs.api.shapes import moment
from jobs.models import Execution
from jobs.states import ExecutionStatus, Outcome, Trigger
from scheduler import recurrence, words
from scheduler.catchup import CatchUp
from scheduler.models import Occurrence, Schedule, ScheduledJob, Workflow
from scheduler.rules import Kind, Rule
from scheduler.states import Overlap, RunStatus, Turn, WorkflowStatus

JSON = dict[str, Any]
LANGUAGES = ("ko", "en")
KINDS = [kind.value for kind in Kind]
POLICIES = [policy.value for policy in CatchUp]


class WordsDocument(serializers.Serializer[Any]):
    ko = serializers.CharField()
    en = serializers.CharField()


@extend_schema_serializer(component_name="Schedule")
class ScheduleDocument(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    task_id = serializers.CharField()
    args = serializers.DictField()
    kind = serializers.ChoiceField(KINDS)
    cron = serializers.CharField(allow_null=True)
    every_seconds = serializers.IntegerField(allow_null=True)
    at = serializers.DateTimeField(allow_null=True)
    enabled = serializers.BooleanField()
    timezone = serializers.CharField()
    overlap = serializers.ChoiceField(Overlap.choices)
    catch_up = serializers.ChoiceField(POLICIES)
    max_retries = serializers.IntegerField()
    starts_at = serializers.DateTimeField(allow_null=True)
    ends_at = serializers.DateTimeField(allow_null=True)
    words = WordsDocument(help_text="The rule in plain words.")
    next_run_at = serializers.DateTimeField(allow_null=True, help_text="Null: nothing is due any more.")
    last_run_at = serializers.DateTimeField(allow_null=True)
    last_execution_id = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class NextDocument(serializers.Serializer[Any]):
    next = serializers.ListField(child=serializers.DateTimeField())
    words = WordsDocument()


@extend_schema_serializer(component_name="Turn")
class TurnDocument(serializers.Serializer[Any]):
    due_at = serializers.DateTimeField()
    turn = serializers.ChoiceField(Turn.choices)
    reason = serializers.CharField(allow_null=True)
    execution_id = serializers.UUIDField(allow_null=True)
    decided_at = serializers.DateTimeField()


class ExecutionAttemptDocument(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField()
    outcome = serializers.ChoiceField(Outcome.choices)
    failure_type = serializers.CharField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    instance = serializers.CharField(allow_null=True)


@extend_schema_serializer(component_name="Execution")
class ExecutionDocument(serializers.Serializer[Any]):
    execution_id = serializers.UUIDField()
    task_id = serializers.CharField()
    trigger = serializers.ChoiceField(Trigger.choices)
    schedule_id = serializers.UUIDField(allow_null=True)
    scheduled_for = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    status = serializers.ChoiceField(ExecutionStatus.choices)
    retry_count = serializers.IntegerField()
    max_retries = serializers.IntegerField()
    next_retry_at = serializers.DateTimeField(allow_null=True)
    attempts = ExecutionAttemptDocument(many=True)
    args = serializers.DictField()
    result = serializers.JSONField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    instance = serializers.CharField(allow_null=True, help_text="The worker that ran it last.")
    locked_until = serializers.DateTimeField(allow_null=True)


@extend_schema_serializer(component_name="Workflow")
class WorkflowDocument(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    office = serializers.UUIDField()
    name = serializers.CharField()
    status = serializers.ChoiceField(WorkflowStatus.choices)
    steps = serializers.ListField(child=serializers.DictField())
    schedule_config = serializers.DictField()
    words = WordsDocument(help_text="The schedule_config in plain words.")
    next_run_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class StartDocument(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    status = serializers.ChoiceField(RunStatus.choices)
    error_message = serializers.CharField(allow_null=True)


@extend_schema_serializer(component_name="ScheduledJob")
class RunDocument(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    workflow_id = serializers.UUIDField()
    workflow_data = serializers.DictField(help_text="Name and steps as they were when the run started.")
    scheduled_time = serializers.DateTimeField()
    status = serializers.ChoiceField(RunStatus.choices)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    executed_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    retry_count = serializers.IntegerField(help_text="How often it was resumed.")
    error_message = serializers.CharField(allow_null=True)
    batch = serializers.UUIDField(allow_null=True)


@extend_schema_serializer(component_name="WorkflowRun")
class RunWithHistoryDocument(RunDocument):
    history = StartDocument(many=True, help_text="Every start, first or resumed.")


def schedule(one: Schedule) -> JSON:
    return {
        "id": str(one.id),
        "name": one.name,
        "task_id": one.task_id,
        "args": one.args,
        "kind": one.kind,
        "cron": one.cron or None,
        "every_seconds": one.every_seconds,
        "at": moment(one.at),
        "enabled": one.enabled,
        "timezone": one.timezone,
        "overlap": one.overlap,
        "catch_up": one.catch_up,
        "max_retries": one.max_retries,
        "starts_at": moment(one.starts_at),
        "ends_at": moment(one.ends_at),
        "words": words_of(one.rule),
        "next_run_at": moment(one.next_run_at),
        "last_run_at": moment(one.last_run_at),
        "last_execution_id": one.last_execution_id and str(one.last_execution_id),
        "created_at": moment(one.created_at),
        "updated_at": moment(one.updated_at),
    }


def words_of(rule: Rule) -> JSON:
    return {language: words.rule_in_words(rule, language) for language in LANGUAGES}


def turn(one: Occurrence) -> JSON:
    return {
        "due_at": moment(one.due_at),
        "turn": one.turn,
        "reason": one.reason or None,
        "execution_id": one.execution_id and str(one.execution_id),
        "decided_at": moment(one.decided_at),
    }


def execution(one: Execution) -> JSON:
    waits = one.status == ExecutionStatus.PENDING and one.attempt > 0
    return {
        "execution_id": str(one.id),
        "task_id": one.task_id,
        "trigger": one.trigger,
        "schedule_id": one.source if one.trigger == Trigger.SCHEDULE else None,
        "scheduled_for": moment(one.scheduled_for),
        "created_at": moment(one.created_at),
        "started_at": moment(one.started_at),
        "finished_at": moment(one.finished_at),
        "status": one.status,
        "retry_count": one.retry_count,
        "max_retries": one.max_retries,
        "next_retry_at": moment(one.due_at) if waits else None,
        "attempts": [
            {
                "number": attempt.number,
                "started_at": moment(attempt.started_at),
                "ended_at": moment(attempt.ended_at),
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
        "locked_until": moment(one.locked_until),
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
        "next_run_at": moment(pending.scheduled_time) if pending else None,
        "created_at": moment(one.created_at),
        "updated_at": moment(one.updated_at),
    }


def run(one: ScheduledJob) -> JSON:
    return {
        "id": str(one.id),
        "workflow_id": str(one.workflow_id),
        "workflow_data": one.workflow_data,
        "scheduled_time": moment(one.scheduled_time),
        "status": one.status,
        "created_at": moment(one.created_at),
        "updated_at": moment(one.updated_at),
        "executed_at": moment(one.executed_at),
        "ended_at": moment(one.ended_at),
        "retry_count": one.retry_count,
        "error_message": one.error_message or None,
        "batch": str(one.batch_id) if one.batch_id else None,
    }


def run_with_history(one: ScheduledJob) -> JSON:
    starts = [
        {
            "number": start.number,
            "started_at": moment(start.started_at),
            "ended_at": moment(start.ended_at),
            "status": start.status,
            "error_message": start.error_message or None,
        }
        for start in one.history.all()
    ]
    return {**run(one), "history": starts}
