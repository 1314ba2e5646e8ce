"""How OpenAPI describes step queues, their jobs and events, and operation libraries."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from jobs.api.framework.openapi_examples import in_response
from jobs.states import FailureType
from scheduler.steps.api import examples
from scheduler.steps.states import UNINIT, Direction, QueueState, StepEventType


class DocumentSerializer(serializers.Serializer[Any]):
    pass


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "enum": [UNINIT]},
            {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["job_id", "number", "direction", "operation", "state", "return"],
                    "properties": {
                        "job_id": {"type": "string", "format": "uuid"},
                        "number": {"type": "integer"},
                        "direction": {"enum": Direction.values},
                        "operation": {"type": "string"},
                        "state": {"type": "string"},
                        "return": {
                            "description": "Shortened to 200 characters; `job_return` has the whole value."
                        },
                    },
                },
            },
        ]
    }
)
class QueueReturnField(serializers.JSONField):
    """The return message of a run."""


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "enum": [UNINIT]},
            {
                "type": "object",
                "required": ["forward", "backward"],
                "properties": {
                    "forward": {"description": "UNINIT until the operation has run."},
                    "backward": {"description": "UNINIT until the operation has run."},
                },
            },
        ]
    }
)
class JobReturnField(serializers.JSONField):
    """The returns of a job's two operations."""


@extend_schema_field({})
class ArgumentsField(serializers.JSONField):
    """The arguments of both operations: any JSON value."""


@extend_schema_serializer(component_name="StepQueue", examples=[in_response("new", examples.QUEUE)])
class QueueDocument(DocumentSerializer):
    queue_id = serializers.IntegerField()
    job_number = serializers.IntegerField(help_text="The number of jobs.")
    operation_direction = serializers.ChoiceField(
        Direction.choices, help_text="BACKWARD after a run that rolled back."
    )
    queue_library = serializers.CharField(help_text="The default library of the jobs, or UNINIT.")
    state = serializers.ChoiceField(QueueState.choices)
    queue_return = QueueReturnField(
        help_text="UNINIT, then a list of what each operation returned, in the order of the run."
    )
    job_queue = serializers.CharField(help_text="The first job's id, or UNINIT.")
    running_job = serializers.CharField(help_text="The job's id, or QUEUE_NOT_RUNNING.")
    last_job = serializers.CharField(help_text="The last job's id, or UNINIT.")
    context = serializers.DictField(  # type: ignore[assignment]  # DRF has its own by that name
        help_text="The data that the operations share; a run starts with an empty context."
    )
    name = serializers.CharField()
    owner = serializers.CharField()
    office = serializers.UUIDField(
        allow_null=True, help_text="Null when the queue belongs to its owner alone."
    )
    callback_url = serializers.CharField(
        allow_null=True, help_text="Receives a signed message when a run has ended."
    )
    started_by = serializers.UUIDField(
        allow_null=True, help_text="The Execution of `steps.run_queue` that copied and ran the queue."
    )
    run = serializers.IntegerField(help_text="The number of runs.")
    cancel_requested_at = serializers.DateTimeField(
        allow_null=True, help_text="When the rollback was requested."
    )
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)


@extend_schema_serializer(component_name="NewStepQueue")
class NewQueueDocument(QueueDocument):
    callback_secret = serializers.CharField(
        required=False, help_text="The key that signs the callback's messages; shown only once."
    )


@extend_schema_serializer(component_name="Step", examples=[in_response("not run yet", examples.SAVED_STEP)])
class StepDocument(DocumentSerializer):
    job_id = serializers.UUIDField()
    queue_id = serializers.IntegerField(allow_null=True, help_text="Null until the job is enqueued.")
    number = serializers.IntegerField(
        allow_null=True, help_text="The position in the queue, from 1. Null until the job is enqueued."
    )
    forward_operation = serializers.CharField()
    backward_operation = serializers.CharField()
    arguments = ArgumentsField(help_text="Any JSON value, or EMPTY_ARGS.")
    operation_library = serializers.CharField()
    expired_time = serializers.FloatField(help_text="In seconds.")
    undo_retries = serializers.IntegerField(help_text="Retries of the backward operation.")
    job_return = JobReturnField(
        help_text=(
            "UNINIT, then `{forward, backward}`, each UNINIT until the operation has run. A failed operation "
            f"returns `{{error, failure_type}}`; the failure types are {', '.join(FailureType.values)}."
        )
    )
    next_job = serializers.CharField(help_text="A job's id, TAIL, or UNLINK.")
    prev_job = serializers.CharField(help_text="A job's id, HEAD, or UNLINK.")
    state = serializers.CharField(help_text="NOTYET, NOLIB, SUCCESS, …, or `SUCCESS, CANCELED` and so on.")


class StepErrorsDocument(DocumentSerializer):
    job_id = serializers.UUIDField()
    number = serializers.IntegerField()
    errors = serializers.DictField(  # type: ignore[assignment]  # DRF has its own by that name
        child=serializers.ListField(child=serializers.CharField()), help_text="The texts of each field."
    )


@extend_schema_serializer(
    component_name="StepQueueCheck", examples=[in_response("one job cannot run", examples.QUEUE_CHECK)]
)
class QueueCheckDocument(DocumentSerializer):
    valid = serializers.BooleanField(help_text="Whether every operation could run now.")
    jobs = StepErrorsDocument(many=True, help_text="The jobs that could not run.")
    roles_without_worker = serializers.ListField(
        child=serializers.CharField(), help_text="Roles of operations that no online worker serves."
    )


@extend_schema_serializer(component_name="StepQueueEvent")
class StepEventDocument(DocumentSerializer):
    id = serializers.IntegerField()
    type = serializers.ChoiceField(StepEventType.choices)
    queue_id = serializers.IntegerField()
    run = serializers.IntegerField()
    details = serializers.DictField(help_text="Further data; its keys depend on the type.")
    timestamp = serializers.DateTimeField()


@extend_schema_serializer(
    component_name="StepQueueEventList",
    examples=[in_response("it was started", {"results": [examples.EVENT], "next_after": 99})],
)
class StepEventListDocument(DocumentSerializer):
    results = StepEventDocument(many=True)
    next_after = serializers.IntegerField(help_text="The value of `?after=` for the next request.")


@extend_schema_serializer(component_name="Operation")
class OperationDocument(DocumentSerializer):
    name = serializers.CharField()
    description = serializers.CharField()
    role = serializers.CharField()
    max_retries = serializers.IntegerField(
        allow_null=True, help_text="Retries of a backward operation. Null: the installation's default."
    )
    arguments_schema = serializers.DictField(help_text="The JSON Schema of the arguments.")


@extend_schema_serializer(
    component_name="OperationLibrary", examples=[in_response("one operation of it", examples.LIBRARY)]
)
class LibraryDocument(DocumentSerializer):
    name = serializers.CharField()
    description = serializers.CharField()
    operations = OperationDocument(many=True)
