"""How the API's objects are described in OpenAPI. Only described: jobs/serialize.py writes them."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from jobs.api import examples
from jobs.api.framework.openapi_examples import answered
from jobs.states import (
    SEED_EXECUTION_STATUS,
    SEED_EXECUTION_TIMED_OUT,
    TOLD_TO_CLIENTS,
    FailureType,
    JobStatus,
    MemberRole,
    OnDependencyFailure,
    OnLost,
    Outcome,
)

EXECUTION_STATUSES = [
    (status, status) for status in (*dict.fromkeys(SEED_EXECUTION_STATUS.values()), SEED_EXECUTION_TIMED_OUT)
]


# Serializes nothing. No docstring: the schema would show it for each that has none.
class Described(serializers.Serializer[Any]):
    pass


class ProgressDocument(Described):
    fraction = serializers.FloatField(
        min_value=0, max_value=1, allow_null=True, help_text="1 is all of it; null when nobody can tell."
    )
    message = serializers.CharField(help_text="What the Task says of it.")


@extend_schema_serializer(component_name="Job", examples=[answered("a job that waits", examples.WAITING_JOB)])
class JobDocument(Described):
    id = serializers.UUIDField()
    ref = serializers.CharField(allow_null=True, help_text="Its name within its submission.")
    office_id = serializers.UUIDField()
    batch = serializers.UUIDField(allow_null=True, help_text="Null for a job that was submitted alone.")
    task_id = serializers.CharField()
    args = serializers.DictField()
    role = serializers.CharField(help_text="Whose workers run it.")
    priority = serializers.IntegerField(help_text="The lower, the earlier.")
    urgent = serializers.BooleanField(help_text="Before everything that is not.")
    status = serializers.ChoiceField(JobStatus.choices)
    depends_on = serializers.ListField(child=serializers.UUIDField(), help_text="In the order given.")
    on_dependency_failure = serializers.ChoiceField(
        OnDependencyFailure.choices, help_text="Whether it then waits, fails as well, or runs anyway."
    )
    timeout_ms = serializers.IntegerField(help_text="How long an attempt may take.")
    max_retries = serializers.IntegerField()
    retry_count = serializers.IntegerField(help_text="How often it was tried again so far.")
    retry_at = serializers.DateTimeField(allow_null=True, help_text="When it is tried again.")
    run_at = serializers.DateTimeField(allow_null=True, help_text="It does not start before.")
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    completed_at = serializers.DateTimeField(allow_null=True)
    cancelled_at = serializers.DateTimeField(
        allow_null=True, help_text="Set on a job that is still processing: it was told to stop."
    )
    failure_type = serializers.ChoiceField(
        FailureType.choices, allow_null=True, help_text="Of the last attempt."
    )
    error_message = serializers.CharField(allow_null=True, help_text="Of the last attempt.")
    result = serializers.JSONField(allow_null=True, help_text="What the Task returned.")
    progress = ProgressDocument(allow_null=True)
    session_id = serializers.CharField(allow_null=True, help_text="What the Task noted of its session.")
    unique_key = serializers.CharField(
        allow_null=True, help_text="No two jobs of the office that have not ended share one."
    )


@extend_schema_serializer(component_name="Attempt")
class AttemptDocument(Described):
    number = serializers.IntegerField()
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True, help_text="Null while it runs.")
    outcome = serializers.ChoiceField(Outcome.choices, allow_null=True)
    failure_type = serializers.ChoiceField(FailureType.choices, allow_null=True)
    error_message = serializers.CharField(allow_null=True)
    worker = serializers.CharField(allow_null=True)


@extend_schema_serializer(component_name="JobExecution")
class JobExecutionDocument(Described):
    id = serializers.UUIDField()
    attempt = serializers.IntegerField(help_text="From 1; 0 while the first one has not started.")
    status = serializers.ChoiceField(EXECUTION_STATUSES)
    started_at = serializers.DateTimeField(allow_null=True)
    timeout_at = serializers.DateTimeField(allow_null=True, help_text="When the attempt is stopped.")
    completed_at = serializers.DateTimeField(allow_null=True)
    session_id = serializers.CharField(allow_null=True)
    error_message = serializers.CharField(allow_null=True)
    worker = serializers.CharField(allow_null=True)
    attempts = AttemptDocument(many=True)


@extend_schema_serializer(
    component_name="JobInFull",
    examples=[answered("it runs for the second time", examples.JOB_IN_FULL)],
)
class JobInFullDocument(JobDocument):
    executions = JobExecutionDocument(many=True)


@extend_schema_serializer(component_name="SchedulerEvent")
class EventDocument(Described):
    id = serializers.IntegerField()
    type = serializers.ChoiceField(TOLD_TO_CLIENTS)
    job_id = serializers.UUIDField(allow_null=True, help_text="Null where it is about a whole batch.")
    batch_id = serializers.UUIDField(allow_null=True)
    office_id = serializers.UUIDField()
    details = serializers.DictField(help_text="What else is known; which depends on the type.")
    timestamp = serializers.DateTimeField()


@extend_schema_serializer(
    component_name="EventList",
    examples=[answered("one event", {"results": [examples.EVENT], "next_after": 4711})],
)
class EventListDocument(Described):
    results = EventDocument(many=True)
    next_after = serializers.IntegerField(help_text="Ask on with `?after=` this.")


@extend_schema_serializer(component_name="Task", examples=[answered("a Task", examples.TASK)])
class TaskDocument(Described):
    task_id = serializers.CharField()
    description = serializers.CharField()
    role = serializers.CharField(help_text="Whose workers run it, unless a job says otherwise.")
    args_schema = serializers.DictField(help_text="JSON Schema of `args`.")
    timeout_ms = serializers.IntegerField(allow_null=True, help_text="Null: the office's.")
    max_retries = serializers.IntegerField(allow_null=True, help_text="Null: the office's.")
    retry_base_delay = serializers.IntegerField(
        allow_null=True, help_text="In milliseconds. Null: the office's."
    )
    on_lost = serializers.ChoiceField(OnLost.choices, help_text="When its worker dies in the middle of it.")
    atomic = serializers.BooleanField(help_text="Its own writes commit together with its result.")


@extend_schema_serializer(component_name="Office", examples=[answered("an office", examples.OFFICE_MADE)])
class OfficeDocument(Described):
    id = serializers.UUIDField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()
    role = serializers.ChoiceField(MemberRole.choices, help_text="What the caller is there.")
    notify_emails = serializers.ListField(
        child=serializers.EmailField(), help_text="Told by mail when a job has failed for good."
    )
