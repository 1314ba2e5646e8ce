"""The API's objects in OpenAPI. These serializers only describe them; jobs/serialize.py writes the JSON."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from jobs.api import examples
from jobs.api.framework.openapi_examples import in_response
from jobs.states import (
    CLIENT_EVENTS,
    V1_EXECUTION_STATUS,
    V1_EXECUTION_TIMED_OUT,
    FailureType,
    JobStatus,
    MemberRole,
    OnDependencyFailure,
    OnLost,
    Outcome,
)

EXECUTION_STATUSES = [
    (status, status) for status in (*dict.fromkeys(V1_EXECUTION_STATUS.values()), V1_EXECUTION_TIMED_OUT)
]


# Only described, never serialized. Without a docstring: the schema would show it for each subclass.
class DocumentSerializer(serializers.Serializer[Any]):
    pass


class ProgressDocument(DocumentSerializer):
    fraction = serializers.FloatField(
        min_value=0, max_value=1, allow_null=True, help_text="From 0 to 1; null if unknown."
    )
    message = serializers.CharField(help_text="A message from the Task.")


@extend_schema_serializer(component_name="Job", examples=[in_response("a waiting job", examples.WAITING_JOB)])
class JobDocument(DocumentSerializer):
    id = serializers.UUIDField()
    ref = serializers.CharField(allow_null=True, help_text="The name within its submission.")
    office_id = serializers.UUIDField()
    batch = serializers.UUIDField(allow_null=True, help_text="Null for a job submitted on its own.")
    task_id = serializers.CharField()
    args = serializers.DictField()
    role = serializers.CharField(help_text="The role whose workers run it.")
    priority = serializers.IntegerField(help_text="Lower runs earlier.")
    urgent = serializers.BooleanField(help_text="Runs before all jobs that are not urgent.")
    status = serializers.ChoiceField(JobStatus.choices)
    depends_on = serializers.ListField(child=serializers.UUIDField(), help_text="In submission order.")
    on_dependency_failure = serializers.ChoiceField(
        OnDependencyFailure.choices, help_text="Whether the job then waits, fails as well, or runs anyway."
    )
    timeout_ms = serializers.IntegerField(help_text="Time limit of an attempt.")
    queue_timeout_ms = serializers.IntegerField(
        allow_null=True, help_text="How long it may wait after it became ready."
    )
    max_retries = serializers.IntegerField()
    retry_count = serializers.IntegerField(help_text="Retries so far.")
    retry_at = serializers.DateTimeField(allow_null=True, help_text="Time of the next retry.")
    run_at = serializers.DateTimeField(allow_null=True, help_text="Earliest start.")
    created_at = serializers.DateTimeField()
    queued_at = serializers.DateTimeField(allow_null=True, help_text="When it last became ready.")
    started_at = serializers.DateTimeField(
        allow_null=True, help_text="When a worker first claimed it; null while it waits for one."
    )
    completed_at = serializers.DateTimeField(allow_null=True)
    cancelled_at = serializers.DateTimeField(
        allow_null=True, help_text="On a job that is still processing: asked to stop."
    )
    failure_type = serializers.ChoiceField(
        FailureType.choices, allow_null=True, help_text="From the last attempt."
    )
    error_message = serializers.CharField(allow_null=True, help_text="From the last attempt.")
    result = serializers.JSONField(allow_null=True, help_text="What the Task returned.")
    progress = ProgressDocument(allow_null=True)
    session_id = serializers.CharField(allow_null=True, help_text="The session id that the Task recorded.")
    unique_key = serializers.CharField(
        allow_null=True, help_text="Unique among the unfinished jobs of the office."
    )


@extend_schema_serializer(component_name="Attempt")
class AttemptDocument(DocumentSerializer):
    number = serializers.IntegerField()
    started_at = serializers.DateTimeField()
    timeout_at = serializers.DateTimeField(help_text="When its time limit ends.")
    ended_at = serializers.DateTimeField(allow_null=True, help_text="Null while it runs.")
    outcome = serializers.ChoiceField(Outcome.choices, allow_null=True)
    failure_type = serializers.ChoiceField(FailureType.choices, allow_null=True)
    error_message = serializers.CharField(allow_null=True)
    traceback = serializers.CharField(allow_null=True, help_text="The frames of the Task's own code.")
    worker = serializers.CharField(allow_null=True)
    session_id = serializers.CharField(allow_null=True, help_text="The session that the Task recorded.")


@extend_schema_serializer(component_name="JobExecution")
class JobExecutionDocument(DocumentSerializer):
    id = serializers.UUIDField()
    attempt = serializers.IntegerField(help_text="Number of the attempt, from 1; 0 before the first one.")
    status = serializers.ChoiceField(EXECUTION_STATUSES)
    started_at = serializers.DateTimeField(allow_null=True)
    timeout_at = serializers.DateTimeField(allow_null=True, help_text="The attempt is stopped at this time.")
    completed_at = serializers.DateTimeField(allow_null=True)
    session_id = serializers.CharField(allow_null=True)
    error_message = serializers.CharField(allow_null=True)
    worker = serializers.CharField(allow_null=True)
    attempts = AttemptDocument(many=True)


@extend_schema_serializer(
    component_name="JobInFull",
    examples=[in_response("running for the second time", examples.JOB_IN_FULL)],
)
class JobInFullDocument(JobDocument):
    executions = JobExecutionDocument(many=True)


@extend_schema_serializer(component_name="SchedulerEvent")
class EventDocument(DocumentSerializer):
    id = serializers.IntegerField()
    type = serializers.ChoiceField(CLIENT_EVENTS)
    job_id = serializers.UUIDField(allow_null=True, help_text="Null for an event of a whole batch.")
    batch_id = serializers.UUIDField(allow_null=True)
    office_id = serializers.UUIDField()
    details = serializers.DictField(help_text="Further data; the keys depend on the type.")
    timestamp = serializers.DateTimeField()


@extend_schema_serializer(
    component_name="EventList",
    examples=[in_response("one event", {"results": [examples.EVENT], "next_after": 4711})],
)
class EventListDocument(DocumentSerializer):
    results = EventDocument(many=True)
    next_after = serializers.IntegerField(help_text="The `after` of the next request.")


@extend_schema_serializer(component_name="Task", examples=[in_response("a Task", examples.TASK)])
class TaskDocument(DocumentSerializer):
    task_id = serializers.CharField()
    description = serializers.CharField()
    role = serializers.CharField(help_text="The role whose workers run it, unless the job names another.")
    args_schema = serializers.DictField(help_text="JSON Schema of `args`.")
    timeout_ms = serializers.IntegerField(allow_null=True, help_text="Null: the office's setting.")
    max_retries = serializers.IntegerField(allow_null=True, help_text="Null: the office's setting.")
    retry_base_delay = serializers.IntegerField(
        allow_null=True, help_text="In milliseconds. Null: the office's setting."
    )
    on_lost = serializers.ChoiceField(OnLost.choices, help_text="What happens if its worker dies.")
    atomic = serializers.BooleanField(help_text="Its database writes commit together with its result.")
    available = serializers.BooleanField(help_text="Whether an online worker has it and serves its role.")
    seen_at = serializers.DateTimeField(
        allow_null=True, help_text="When a worker that has it was last heard of. Null: never."
    )
    package = serializers.CharField(help_text="The installed package of its code; empty if there is none.")
    version = serializers.CharField(help_text="The version of that package.")
    code_digest = serializers.CharField(help_text="SHA-256 of the file of its code; empty before a worker.")
    schemas_differ = serializers.BooleanField(help_text="Whether online workers have different schemas.")


@extend_schema_serializer(component_name="Office", examples=[in_response("an office", examples.OFFICE_MADE)])
class OfficeDocument(DocumentSerializer):
    id = serializers.UUIDField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()
    role = serializers.ChoiceField(MemberRole.choices, help_text="The role of the caller.")
    notify_emails = serializers.ListField(
        child=serializers.EmailField(), help_text="Addresses that receive an email when a job fails for good."
    )
