"""How this API's objects are described in OpenAPI. Only described: shapes.py writes them."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from jobs.states import ExecutionStatus, Outcome, Trigger
from scheduler.catchup import CatchUp
from scheduler.rules import Kind
from scheduler.states import Overlap, RunStatus, Turn, WorkflowStatus

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
