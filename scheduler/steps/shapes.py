"""What a step queue, its jobs, its events and a library look like as JSON, and how OpenAPI describes them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from jobs.api.framework.openapi_examples import answered
from jobs.api.shapes import moment
from jobs.states import FailureType
from scheduler.steps import libraries
from scheduler.steps.api import examples
from scheduler.steps.models import Step, StepEvent, StepQueue
from scheduler.steps.states import EMPTY_ARGS, UNINIT, Direction, QueueState, StepEventType

JSON = dict[str, Any]


class Described(serializers.Serializer[Any]):
    pass


@extend_schema_field(
    {
        "oneOf": [
            {"const": UNINIT},
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
                        "return": {"description": "Cut at 200 characters; `job_return` has all of it."},
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
            {"const": UNINIT},
            {
                "type": "object",
                "required": ["forward", "backward"],
                "properties": {
                    "forward": {"description": "UNINIT until it was run."},
                    "backward": {"description": "UNINIT until it was run."},
                },
            },
        ]
    }
)
class JobReturnField(serializers.JSONField):
    """What a job's two operations returned."""


@extend_schema_field({"oneOf": [{"const": EMPTY_ARGS}, {"type": "object", "additionalProperties": {}}]})
class ArgumentsField(serializers.JSONField):
    """What both operations are given: an object, or the word for none."""


@extend_schema_serializer(component_name="StepQueue", examples=[answered("new", examples.QUEUE)])
class QueueDocument(Described):
    queue_id = serializers.IntegerField()
    job_number = serializers.IntegerField(help_text="How many jobs it has.")
    operation_direction = serializers.ChoiceField(
        Direction.choices, help_text="BACKWARD after a run: it turned back."
    )
    queue_library = serializers.CharField(help_text="For jobs that name none; UNINIT when there is none.")
    state = serializers.ChoiceField(QueueState.choices)
    queue_return = QueueReturnField(
        help_text="UNINIT, then a list of what each operation returned, in the order of the walk."
    )
    job_queue = serializers.CharField(help_text="The first job's id, or UNINIT.")
    running_job = serializers.CharField(help_text="The job's id, or QUEUE_NOT_RUNNING.")
    last_job = serializers.CharField(help_text="The last job's id, or UNINIT.")
    context = serializers.DictField(  # type: ignore[assignment]  # DRF has its own by that name
        help_text="What the operations share; emptied when a run starts."
    )
    name = serializers.CharField()
    owner = serializers.CharField()
    office = serializers.UUIDField(allow_null=True, help_text="Null: it is its owner's alone.")
    callback_url = serializers.CharField(allow_null=True, help_text="Told when a run has ended.")
    run = serializers.IntegerField(help_text="How often it was run.")
    cancel_requested_at = serializers.DateTimeField(
        allow_null=True, help_text="Since when it is to turn back."
    )
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)


@extend_schema_serializer(component_name="NewStepQueue")
class NewQueueDocument(QueueDocument):
    callback_secret = serializers.CharField(
        required=False, help_text="Shown once: what the callback's messages are signed with."
    )


@extend_schema_serializer(component_name="Step", examples=[answered("not run yet", examples.STEP_MADE)])
class StepDocument(Described):
    job_id = serializers.UUIDField()
    queue_id = serializers.IntegerField()
    number = serializers.IntegerField(help_text="Its place in the queue, from 1.")
    forward_operation = serializers.CharField()
    backward_operation = serializers.CharField()
    arguments = ArgumentsField()
    operation_library = serializers.CharField()
    expired_time = serializers.FloatField(help_text="In seconds.")
    job_return = JobReturnField(
        help_text=(
            "UNINIT, then `{forward, backward}`, each UNINIT until it was run. An operation that failed "
            f"returns `{{error, failure_type}}`; the types are {', '.join(FailureType.values)}."
        )
    )
    next_job = serializers.CharField(help_text="A job's id, or TAIL.")
    prev_job = serializers.CharField(help_text="A job's id, or HEAD.")
    state = serializers.CharField(help_text="NOTYET, NOLIB, SUCCESS, …, or `SUCCESS, CANCELED` and so on.")


@extend_schema_serializer(component_name="StepQueueEvent")
class StepEventDocument(Described):
    id = serializers.IntegerField()
    type = serializers.ChoiceField(StepEventType.choices)
    queue_id = serializers.IntegerField()
    run = serializers.IntegerField()
    details = serializers.DictField(help_text="What else is known; which depends on the type.")
    timestamp = serializers.DateTimeField()


@extend_schema_serializer(
    component_name="StepQueueEventList",
    examples=[answered("it was started", {"results": [examples.EVENT], "next_after": 99})],
)
class StepEventListDocument(Described):
    results = StepEventDocument(many=True)
    next_after = serializers.IntegerField(help_text="Ask on with `?after=` this.")


@extend_schema_serializer(component_name="Operation")
class OperationDocument(Described):
    name = serializers.CharField()
    description = serializers.CharField()
    role = serializers.CharField()
    max_retries = serializers.IntegerField(
        allow_null=True, help_text="When it runs backward. Null: the installation's."
    )
    arguments_schema = serializers.DictField(help_text="JSON Schema of the arguments that it takes.")


@extend_schema_serializer(
    component_name="OperationLibrary", examples=[answered("one operation of it", examples.LIBRARY)]
)
class LibraryDocument(Described):
    name = serializers.CharField()
    description = serializers.CharField()
    operations = OperationDocument(many=True)


def queue(found: StepQueue) -> JSON:
    return {
        "queue_id": found.queue_id,
        "job_number": found.job_number,
        "operation_direction": found.operation_direction,
        "queue_library": found.queue_library,
        "state": found.state,
        "queue_return": found.queue_return,
        "job_queue": found.job_queue,
        "running_job": found.running_job,
        "last_job": found.last_job,
        "context": found.context,
        "name": found.name,
        "owner": found.owner.get_username(),
        "office": found.office_id and str(found.office_id),
        "callback_url": found.callback_url or None,
        "run": found.run,
        "cancel_requested_at": moment(found.cancel_requested_at),
        "created_at": moment(found.created_at),
        "started_at": moment(found.started_at),
        "ended_at": moment(found.ended_at),
    }


def step(found: Step) -> JSON:
    seconds = found.expired_time
    return {
        "job_id": str(found.job_id),
        "queue_id": found.queue_id,
        "number": found.number,
        "forward_operation": found.forward_operation,
        "backward_operation": found.backward_operation,
        "arguments": found.arguments,
        "operation_library": found.operation_library,
        # The default reads 30, as it is written.
        "expired_time": int(seconds) if seconds == int(seconds) else seconds,
        "job_return": found.job_return,
        "next_job": found.next_job,
        "prev_job": found.prev_job,
        "state": found.state,
    }


def event(found: StepEvent) -> JSON:
    return {
        "id": found.id,
        "type": found.type,
        "queue_id": found.queue_id,
        "run": found.run,
        "details": found.details,
        "timestamp": moment(found.at),
    }


def library(name: str) -> JSON:
    return {
        "name": name,
        "description": libraries.description_of(name),
        "operations": [
            {
                "name": known.name,
                "description": known.description,
                "role": known.role,
                "max_retries": known.max_retries,
                "arguments_schema": known.schema,
            }
            for known in libraries.operations_of(name)
        ],
    }
