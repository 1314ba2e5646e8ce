"""Step queues, their jobs and events, and operation libraries, as the API writes and describes them."""

from typing import Annotated, Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_serializer
from pydantic import AliasPath, ConfigDict, Field, WithJsonSchema

from dure.failures import FailureType
from jobs.api.framework.openapi_examples import in_response
from jobs.api_model import JSON, WHOLE, AnyOf, ApiOut, Number, Omittable, TextOrNone, Time
from scheduler.steps import libraries
from scheduler.steps.api import examples
from scheduler.steps.job_checks import QueueCheck
from scheduler.steps.models import Step
from scheduler.steps.states import UNINIT, Direction, QueueState, StepEventType

QUEUE_RETURN: JSON = {
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
JOB_RETURN: JSON = {
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


@extend_schema_serializer(examples=[in_response("new", examples.QUEUE)])
class StepQueueOut(ApiOut):
    queue_id: int
    job_number: int = Field(description="The number of jobs.")
    operation_direction: Annotated[str, AnyOf(Direction.choices)] = Field(
        description="BACKWARD after a run that rolled back."
    )
    queue_library: str = Field(description="The default library of the jobs, or UNINIT.")
    state: Annotated[str, AnyOf(QueueState.choices)]
    queue_return: Annotated[Any, WithJsonSchema(QUEUE_RETURN)] = Field(
        description="UNINIT, then a list of what each operation returned, in the order of the run."
    )
    job_queue: str = Field(description="The first job's id, or UNINIT.")
    running_job: str = Field(description="The job's id, or QUEUE_NOT_RUNNING.")
    last_job: str = Field(description="The last job's id, or UNINIT.")
    context: JSON = Field(
        description="The data that the operations share; a run starts with an empty context."
    )
    name: str
    owner: str = Field(validation_alias=AliasPath("owner", "username"))
    office: UUID | None = Field(
        validation_alias="office_id", description="Null when the queue belongs to its owner alone."
    )
    callback_url: TextOrNone = Field(description="Receives a signed message when a run has ended.")
    started_by: UUID | None = Field(
        description="The Execution of `steps.run_queue` that copied and ran the queue."
    )
    run: int = Field(description="The number of runs.")
    cancel_requested_at: Time | None = Field(description="When the rollback was requested.")
    created_at: Time
    started_at: Time | None
    ended_at: Time | None


class NewStepQueueOut(StepQueueOut):
    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    callback_secret: Omittable[str] = Field(
        None,
        exclude_if=lambda secret: not secret,
        description="The key that signs the callback's messages; shown only once.",
    )


@extend_schema_serializer(examples=[in_response("not run yet", examples.SAVED_STEP)])
class StepOut(ApiOut):
    job_id: UUID
    queue_id: int | None = Field(description="Null until the job is enqueued.")
    number: int | None = Field(
        description="The position in the queue, from 1. Null until the job is enqueued."
    )
    forward_operation: str
    backward_operation: str
    arguments: Any = Field(description="Any JSON value, or EMPTY_ARGS.")
    operation_library: str
    expired_time: Annotated[Number, WHOLE] = Field(description="In seconds.")
    undo_retries: int = Field(description="Retries of the backward operation.")
    job_return: Annotated[Any, WithJsonSchema(JOB_RETURN)] = Field(
        description="UNINIT, then `{forward, backward}`, each UNINIT until the operation has run. A failed "
        f"operation returns `{{error, failure_type}}`; the failure types are {', '.join(FailureType)}."
    )
    next_job: str = Field(description="A job's id, TAIL, or UNLINK.")
    prev_job: str = Field(description="A job's id, HEAD, or UNLINK.")
    state: str = Field(description="NOTYET, NOLIB, SUCCESS, …, or `SUCCESS, CANCELED` and so on.")


class StepErrorsOut(ApiOut):
    job_id: UUID
    number: int
    errors: dict[str, list[str]] = Field(description="The texts of each field.")


@extend_schema_serializer(examples=[in_response("one job cannot run", examples.QUEUE_CHECK)])
class StepQueueCheckOut(ApiOut):
    valid: bool = Field(validation_alias="is_valid", description="Whether every operation could run now.")
    jobs: list[StepErrorsOut] = Field(description="The jobs that could not run.")
    roles_without_worker: list[str] = Field(description="Roles of operations that no online worker serves.")


class StepQueueEventOut(ApiOut):
    id: int
    type: Annotated[str, AnyOf(StepEventType.choices)]
    queue_id: int
    run: int
    details: JSON = Field(description="Further data; its keys depend on the type.")
    timestamp: Time = Field(validation_alias="at")


@extend_schema_serializer(
    examples=[in_response("it was started", {"results": [examples.EVENT], "next_after": 99})]
)
class StepQueueEventListOut(ApiOut):
    results: list[StepQueueEventOut]
    next_after: int = Field(description="The value of `?after=` for the next request.")


class OperationOut(ApiOut):
    name: str
    description: str
    role: str
    max_retries: int | None = Field(
        description="Retries of a backward operation. Null: the installation's default."
    )
    arguments_schema: JSON = Field(validation_alias="schema", description="The JSON Schema of the arguments.")


@extend_schema_serializer(examples=[in_response("one operation of it", examples.LIBRARY)])
class OperationLibraryOut(ApiOut):
    name: str
    description: str
    operations: list[OperationOut]


def step_json(step: Step) -> JSON:
    return StepOut.write(step, undo_retries=libraries.undo_retries(step))


def queue_check_json(check: QueueCheck) -> JSON:
    jobs = [
        {"job_id": step.job_id, "number": step.number, "errors": error.errors_in_english()}
        for step, error in check.refused
    ]
    return StepQueueCheckOut.write(check, jobs=jobs)


def library_json(name: str) -> JSON:
    return OperationLibraryOut.write(
        {
            "name": name,
            "description": libraries.description(name),
            "operations": libraries.operations_in(name),
        }
    )
