"""How the API's objects are described in OpenAPI. Only described: jobs/api/shapes.py writes them."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema_serializer
from rest_framework import serializers

from jobs.states import (
    SEED_EXECUTION_STATUS,
    SEED_EXECUTION_TIMED_OUT,
    TOLD_TO_CLIENTS,
    Backoff,
    EventType,
    ExecutionStatus,
    FailureType,
    JobStatus,
    MemberRole,
    OnDependencyFailure,
    OnLost,
    Outcome,
)

OFFICE = "0199c0de-0000-7000-8000-000000000001"
BATCH = "0199c0de-0000-7000-8000-000000000002"
BUILD = "0199c0de-0000-7000-8000-000000000003"
CHECK = "0199c0de-0000-7000-8000-000000000004"
RUN = "0199c0de-0000-7000-8000-000000000005"
AT = "2026-12-01T09:00:00+09:00"

JOB_EXAMPLE: dict[str, Any] = {
    "id": CHECK,
    "ref": "check",
    "office_id": OFFICE,
    "batch": BATCH,
    "task_id": "demo.sum",
    "args": {"numbers": [1, 2, 3]},
    "role": "QA",
    "priority": 100,
    "urgent": False,
    "status": JobStatus.PENDING.value,
    "depends_on": [BUILD],
    "on_dependency_failure": OnDependencyFailure.BLOCK.value,
    "timeout_ms": 2_700_000,
    "max_retries": 2,
    "retry_count": 0,
    "retry_at": None,
    "run_at": None,
    "created_at": AT,
    "started_at": None,
    "completed_at": None,
    "cancelled_at": None,
    "failure_type": None,
    "error_message": None,
    "result": None,
    "progress": None,
    "session_id": None,
    "unique_key": None,
}
RUNNING_EXAMPLE = {
    **JOB_EXAMPLE,
    "status": JobStatus.PROCESSING.value,
    "started_at": AT,
    "progress": {"fraction": 0.5, "message": "half of it"},
    "executions": [
        {
            "id": RUN,
            "attempt": 1,
            "status": SEED_EXECUTION_STATUS[ExecutionStatus.RUNNING],
            "started_at": AT,
            "timeout_at": "2026-12-01T09:45:00+09:00",
            "completed_at": None,
            "session_id": None,
            "error_message": None,
            "worker": "jobs@worker-1",
            "attempts": [
                {
                    "number": 1,
                    "started_at": AT,
                    "ended_at": None,
                    "outcome": None,
                    "failure_type": None,
                    "error_message": None,
                    "worker": "jobs@worker-1",
                }
            ],
        }
    ],
}
EVENT_EXAMPLE = {
    "id": 4711,
    "type": EventType.JOB_STARTED.value,
    "job_id": CHECK,
    "batch_id": BATCH,
    "office_id": OFFICE,
    "details": {"execution_id": RUN, "attempt": 1, "fence": 1, "worker": "jobs@worker-1"},
    "timestamp": AT,
}
TASK_EXAMPLE = {
    "task_id": "demo.sum",
    "description": "Adds numbers.",
    "role": "default",
    "args_schema": {
        "type": "object",
        "properties": {"numbers": {"type": "array", "items": {"type": "number"}}},
        "required": ["numbers"],
        "additionalProperties": False,
    },
    "timeout_ms": None,
    "max_retries": None,
    "retry_base_delay": None,
    "on_lost": OnLost.RETRY.value,
    "atomic": False,
}
OFFICE_EXAMPLE = {
    "id": OFFICE,
    "name": "Seoul studio",
    "created_at": AT,
    "role": MemberRole.OWNER.value,
    "notify_emails": ["ops@example.com"],
}
SUBMISSION_EXAMPLE = {
    "batch": {"name": "release"},
    "jobs": [
        {"ref": "build", "task_id": "demo.sleep", "args": {"seconds": 2}, "role": "BE"},
        {
            "ref": "check",
            "task_id": "demo.sum",
            "args": {"numbers": [1, 2, 3]},
            "role": "QA",
            "depends_on": ["build"],
        },
    ],
}


EXECUTION_STATUSES = [
    (status, status) for status in (*dict.fromkeys(SEED_EXECUTION_STATUS.values()), SEED_EXECUTION_TIMED_OUT)
]


class Described(serializers.Serializer[Any]):
    """A serializer that serializes nothing."""


class ProgressDocument(Described):
    fraction = serializers.FloatField(min_value=0, max_value=1, allow_null=True)
    message = serializers.CharField()


def example(name: str, value: object) -> list[OpenApiExample]:
    return [OpenApiExample(name, value, response_only=True, status_codes=["200", "201", "202"])]


@extend_schema_serializer(component_name="Job", examples=example("a job that waits", JOB_EXAMPLE))
class JobDocument(Described):
    id = serializers.UUIDField()
    ref = serializers.CharField(allow_null=True)
    office_id = serializers.UUIDField()
    batch = serializers.UUIDField(allow_null=True)
    task_id = serializers.CharField()
    args = serializers.DictField()
    role = serializers.CharField()
    priority = serializers.IntegerField(help_text="The lower, the earlier.")
    urgent = serializers.BooleanField(help_text="Before everything that is not.")
    status = serializers.ChoiceField(JobStatus.choices)
    depends_on = serializers.ListField(child=serializers.UUIDField())
    on_dependency_failure = serializers.ChoiceField(OnDependencyFailure.choices)
    timeout_ms = serializers.IntegerField()
    max_retries = serializers.IntegerField()
    retry_count = serializers.IntegerField()
    retry_at = serializers.DateTimeField(allow_null=True)
    run_at = serializers.DateTimeField(allow_null=True)
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
    result = serializers.JSONField(allow_null=True)
    progress = ProgressDocument(allow_null=True)
    session_id = serializers.CharField(allow_null=True)
    unique_key = serializers.CharField(allow_null=True)


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
    timeout_at = serializers.DateTimeField(allow_null=True)
    completed_at = serializers.DateTimeField(allow_null=True)
    session_id = serializers.CharField(allow_null=True)
    error_message = serializers.CharField(allow_null=True)
    worker = serializers.CharField(allow_null=True)
    attempts = AttemptDocument(many=True)


@extend_schema_serializer(component_name="JobInFull", examples=example("a job that runs", RUNNING_EXAMPLE))
class JobInFullDocument(JobDocument):
    executions = JobExecutionDocument(many=True)


@extend_schema_serializer(component_name="JobSubmission")
class JobSubmissionDocument(Described):
    ref = serializers.CharField(
        required=False, max_length=200, help_text="The job's name within this submission."
    )
    task_id = serializers.CharField()
    args = serializers.DictField(required=False)
    role = serializers.CharField(required=False, help_text="The Task's own, unless given.")
    priority = serializers.IntegerField(required=False, default=100)
    urgent = serializers.BooleanField(required=False, default=False)
    depends_on = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Refs of this submission, or ids of jobs that the office has already.",
    )
    timeout_ms = serializers.IntegerField(required=False, min_value=1)
    max_retries = serializers.IntegerField(required=False, min_value=0, max_value=100)
    retry_backoff = serializers.ChoiceField(Backoff.choices, required=False)
    retry_base_delay = serializers.IntegerField(required=False, min_value=0, help_text="In milliseconds.")
    on_dependency_failure = serializers.ChoiceField(
        OnDependencyFailure.choices, required=False, default=OnDependencyFailure.BLOCK
    )
    unique_key = serializers.CharField(
        required=False, max_length=200, help_text="No two jobs of the office that have not ended share one."
    )
    run_at = serializers.DateTimeField(required=False)


class BatchReferenceDocument(Described):
    id = serializers.UUIDField(required=False)
    name = serializers.CharField(required=False, allow_blank=True, max_length=200)


@extend_schema_serializer(
    component_name="BatchSubmission",
    examples=[OpenApiExample("two jobs, one after the other", SUBMISSION_EXAMPLE, request_only=True)],
)
class BatchSubmissionDocument(Described):
    batch = BatchReferenceDocument(required=False)
    jobs = JobSubmissionDocument(many=True)


class SubmittedBatchDocument(Described):
    id = serializers.UUIDField()
    name = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()


@extend_schema_serializer(
    component_name="SubmittedJobs",
    examples=example(
        "a batch of one", {"batch": {"id": BATCH, "name": "release", "created_at": AT}, "jobs": [JOB_EXAMPLE]}
    ),
)
class SubmittedDocument(Described):
    batch = SubmittedBatchDocument()
    jobs = JobDocument(many=True)


@extend_schema_serializer(component_name="SchedulerEvent")
class EventDocument(Described):
    id = serializers.IntegerField()
    type = serializers.ChoiceField(TOLD_TO_CLIENTS)
    job_id = serializers.UUIDField(allow_null=True)
    batch_id = serializers.UUIDField(allow_null=True)
    office_id = serializers.UUIDField()
    details = serializers.DictField()
    timestamp = serializers.DateTimeField()


@extend_schema_serializer(
    component_name="EventList",
    examples=example("one event", {"results": [EVENT_EXAMPLE], "next_after": 4711}),
)
class EventListDocument(Described):
    results = EventDocument(many=True)
    next_after = serializers.IntegerField(help_text="Ask on with `?after=` this.")


@extend_schema_serializer(component_name="Task", examples=example("a Task", TASK_EXAMPLE))
class TaskDocument(Described):
    task_id = serializers.CharField()
    description = serializers.CharField()
    role = serializers.CharField()
    args_schema = serializers.DictField(help_text="JSON Schema of `args`.")
    timeout_ms = serializers.IntegerField(allow_null=True, help_text="Null: the office's.")
    max_retries = serializers.IntegerField(allow_null=True, help_text="Null: the office's.")
    retry_base_delay = serializers.IntegerField(
        allow_null=True, help_text="In milliseconds. Null: the office's."
    )
    on_lost = serializers.ChoiceField(OnLost.choices, help_text="When its worker dies in the middle of it.")
    atomic = serializers.BooleanField(help_text="Its own writes commit together with its result.")


@extend_schema_serializer(component_name="Office", examples=example("an office", OFFICE_EXAMPLE))
class OfficeDocument(Described):
    id = serializers.UUIDField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()
    role = serializers.ChoiceField(MemberRole.choices, help_text="What the caller is there.")
    notify_emails = serializers.ListField(child=serializers.EmailField())
