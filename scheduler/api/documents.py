"""How this API's objects are described in OpenAPI. Only described: shapes.py writes them."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from jobs.api.documents import JobDocument
from jobs.api.framework.openapi_examples import in_response
from jobs.states import ExecutionStatus, Outcome, Trigger
from scheduler.api import examples
from scheduler.schedules.catchup import CatchUp
from scheduler.schedules.rules import Kind
from scheduler.states import OccurrenceOutcome, Overlap, RunStatus, WorkflowStatus

KINDS = [kind.value for kind in Kind]
POLICIES = [policy.value for policy in CatchUp]


@extend_schema_serializer(component_name="Words")
class WordsDocument(serializers.Serializer[Any]):
    ko = serializers.CharField(help_text="In Korean.")
    en = serializers.CharField(help_text="In English.")


@extend_schema_serializer(
    component_name="Schedule", examples=[in_response("every morning", examples.SCHEDULE_MADE)]
)
class ScheduleDocument(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    task_id = serializers.CharField()
    args = serializers.DictField()
    kind = serializers.ChoiceField(KINDS)
    cron = serializers.CharField(allow_null=True, help_text="Of the kind cron.")
    every_seconds = serializers.IntegerField(allow_null=True, help_text="Of the kind interval.")
    at = serializers.DateTimeField(allow_null=True, help_text="Of the kind once.")
    enabled = serializers.BooleanField(help_text="False while it is paused.")
    timezone = serializers.CharField(help_text="Whose clock `cron` means.")
    overlap = serializers.ChoiceField(
        Overlap.choices, help_text="What happens if the previous run is still in progress."
    )
    catch_up = serializers.ChoiceField(
        POLICIES, help_text="Which of the runs missed in an outage are run afterwards."
    )
    max_retries = serializers.IntegerField()
    starts_at = serializers.DateTimeField(allow_null=True, help_text="It does not fire before.")
    ends_at = serializers.DateTimeField(allow_null=True, help_text="It does not fire after.")
    words = WordsDocument(help_text="The rule in plain words.")
    next_run_at = serializers.DateTimeField(allow_null=True, help_text="Null: nothing is due any more.")
    last_run_at = serializers.DateTimeField(allow_null=True)
    last_execution_id = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


@extend_schema_serializer(component_name="NextTimes", examples=[in_response("two mornings", examples.NEXT)])
class NextDocument(serializers.Serializer[Any]):
    next = serializers.ListField(child=serializers.DateTimeField(), help_text="The soonest first.")
    words = WordsDocument()


@extend_schema_serializer(component_name="Turn", examples=[in_response("skipped", examples.TURN_SKIPPED)])
class TurnDocument(serializers.Serializer[Any]):
    due_at = serializers.DateTimeField()
    turn = serializers.ChoiceField(
        OccurrenceOutcome.choices,
        help_text="Run; skipped because the previous run was in progress; or missed in an outage.",
    )
    reason = serializers.CharField(allow_null=True, help_text="Why it was not run.")
    execution_id = serializers.UUIDField(allow_null=True, help_text="The run that it made.")
    decided_at = serializers.DateTimeField()


@extend_schema_serializer(component_name="ExecutionAttempt")
class ExecutionAttemptDocument(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField()
    outcome = serializers.ChoiceField(Outcome.choices)
    failure_type = serializers.CharField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    instance = serializers.CharField(allow_null=True)


@extend_schema_serializer(component_name="Execution", examples=[in_response("done", examples.EXECUTION_DONE)])
class ExecutionDocument(serializers.Serializer[Any]):
    execution_id = serializers.UUIDField()
    task_id = serializers.CharField()
    trigger = serializers.ChoiceField(Trigger.choices, help_text="What caused it.")
    schedule_id = serializers.UUIDField(allow_null=True, help_text="With the trigger SCHEDULE.")
    scheduled_for = serializers.DateTimeField(allow_null=True, help_text="The due time of its scheduled run.")
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    status = serializers.ChoiceField(ExecutionStatus.choices)
    retry_count = serializers.IntegerField()
    max_retries = serializers.IntegerField()
    next_retry_at = serializers.DateTimeField(allow_null=True)
    attempts = ExecutionAttemptDocument(many=True)
    args = serializers.DictField()
    result = serializers.JSONField(allow_null=True, help_text="What the Task returned.")
    error = serializers.CharField(allow_null=True)
    instance = serializers.CharField(allow_null=True, help_text="The worker that ran it last.")
    locked_until = serializers.DateTimeField(
        allow_null=True, help_text="Until when its worker owns it; it renews that while it runs."
    )


@extend_schema_serializer(component_name="Workflow", examples=[in_response("daily", examples.WORKFLOW_MADE)])
class WorkflowDocument(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    office = serializers.UUIDField()
    name = serializers.CharField()
    status = serializers.ChoiceField(WorkflowStatus.choices)
    steps = serializers.ListField(child=serializers.DictField(), help_text="Jobs, as they are submitted.")
    schedule_config = serializers.DictField(help_text="When it runs.")
    words = WordsDocument(help_text="The schedule_config in plain words.")
    next_run_at = serializers.DateTimeField(allow_null=True, help_text="Null: nothing is registered.")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


@extend_schema_serializer(component_name="WorkflowStart")
class StartDocument(serializers.Serializer[Any]):
    number = serializers.IntegerField(help_text="1 is the first start, the others resumed it.")
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    status = serializers.ChoiceField(RunStatus.choices)
    error_message = serializers.CharField(allow_null=True)


@extend_schema_serializer(component_name="ScheduledJob", examples=[in_response("due", examples.RUN_PENDING)])
class RunDocument(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    workflow_id = serializers.UUIDField()
    workflow_data = serializers.DictField(help_text="Name and steps as they were when the run started.")
    scheduled_time = serializers.DateTimeField()
    status = serializers.ChoiceField(RunStatus.choices)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    executed_at = serializers.DateTimeField(allow_null=True, help_text="When it was started.")
    ended_at = serializers.DateTimeField(allow_null=True)
    retry_count = serializers.IntegerField(help_text="How often it was resumed.")
    error_message = serializers.CharField(allow_null=True)
    batch = serializers.UUIDField(allow_null=True, help_text="Of the jobs that it made.")


@extend_schema_serializer(
    component_name="WorkflowRun", examples=[in_response("it runs", examples.RUN_WITH_HISTORY)]
)
class RunWithHistoryDocument(RunDocument):
    history = StartDocument(many=True, help_text="Every start, first or resumed.")


@extend_schema_serializer(
    component_name="WorkflowRunWithResults", examples=[in_response("done", examples.RUN_WITH_RESULTS)]
)
class RunWithResultsDocument(RunWithHistoryDocument):
    results = JobDocument(many=True, help_text="Its jobs, in the order of the steps.")
