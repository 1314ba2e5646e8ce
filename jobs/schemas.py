"""Jobs, their runs and events as the v1 contract has them: what a submission takes, and what the API answers.

JSON's types of a submission are taken as they are: "5" is not a number, and true is not 1.
"""

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from pydantic import AliasPath, BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from jobs.api_model import EMPTY_IS_NONE, JSON, AnyOf, ApiModel, ApiOut, OneOf, TextOrNone, Time
from jobs.errors import ErrorText, FieldErrors
from jobs.field_types import (
    HIGHEST_PRIORITY,
    LONGEST_DELAY_MS,
    LONGEST_TEXT,
    LONGEST_TIMEOUT_MS,
    LOWEST_PRIORITY,
    MOST_RETRIES,
    Delay,
    NotEmpty,
    Priority,
    Retries,
    RoleName,
    Text,
    Timeout,
    TimeWithOffset,
)
from jobs.states import (
    CLIENT_EVENTS,
    FAILURE_TYPES,
    V1_EXECUTION_STATUS,
    V1_EXECUTION_TIMED_OUT,
    Backoff,
    JobStatus,
    OnDependencyFailure,
    Outcome,
)

DEFAULT_PRIORITY = 100
EXECUTION_STATUSES = [
    (status, status) for status in (*dict.fromkeys(V1_EXECUTION_STATUS.values()), V1_EXECUTION_TIMED_OUT)
]
# Ids that are text already: a submission may have a hundred thousand.
UuidText = Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]
FailureOrNone = Annotated[Annotated[str, AnyOf(FAILURE_TYPES)] | None, EMPTY_IS_NONE]

# The API's error for an invalid field: one text for each field, instead of pydantic's.
TEXT_ERROR = ErrorText("text_up_to", limit=LONGEST_TEXT)
OBJECT_ERROR = ErrorText("object")


def _between(low: int, high: int) -> ErrorText:
    return ErrorText("whole_number_between", low=low, high=high)


def _one_of(allowed: Sequence[str]) -> ErrorText:
    return ErrorText("one_of", limit=", ".join(allowed))


# One job of a submission. None is like a field that is not there: its default applies.
class JobIn(ApiModel):
    model_config = ConfigDict(extra="forbid", strict=True, title="JobSubmission")

    ref: Annotated[Text | None, TEXT_ERROR] = Field(
        None, description="The job's name within this submission."
    )
    task_id: Annotated[NotEmpty, ErrorText("required")] = Field(description="One of `GET /api/tasks`.")
    args: Annotated[dict[str, Any] | None, OBJECT_ERROR] = Field(
        None, description="Valid for the Task's `args_schema`; at most 256 KiB."
    )
    role: Annotated[RoleName | None, ErrorText("role_name")] = Field(
        None, description="The role whose workers run it; default: the Task's."
    )
    priority: Annotated[Priority | None, _between(LOWEST_PRIORITY, HIGHEST_PRIORITY)] = Field(
        None, description="Lower runs earlier.", json_schema_extra={"default": DEFAULT_PRIORITY}
    )
    urgent: Annotated[bool | None, ErrorText("boolean")] = Field(
        None,
        description="Runs before all jobs that are not urgent.",
        json_schema_extra={"default": False},
    )
    depends_on: Annotated[list[NotEmpty] | None, ErrorText("dependency_list")] = Field(
        None, description="Refs of this submission, or ids of existing jobs of the office; each once."
    )
    timeout_ms: Annotated[Timeout | None, _between(1, LONGEST_TIMEOUT_MS)] = Field(
        None, description="Time limit of an attempt; default: the Task's or the office's."
    )
    queue_timeout_ms: Annotated[Timeout | None, _between(1, LONGEST_TIMEOUT_MS)] = Field(
        None,
        description="If the job has not started so long after it became ready, it fails with `timeout`.",
    )
    max_retries: Annotated[Retries | None, _between(0, MOST_RETRIES)] = Field(
        None, description="Maximum number of automatic retries; default: the Task's or the office's."
    )
    retry_backoff: Annotated[Annotated[str, OneOf(Backoff.choices)] | None, _one_of(Backoff.values)] = Field(
        None, description="How the delay grows from retry to retry."
    )
    retry_base_delay: Annotated[Delay | None, _between(0, LONGEST_DELAY_MS)] = Field(
        None, description="The first delay, in milliseconds."
    )
    on_dependency_failure: Annotated[
        Annotated[str, OneOf(OnDependencyFailure.choices)] | None, _one_of(OnDependencyFailure.values)
    ] = Field(
        None,
        description="When a dependency fails or is cancelled: wait until a retry succeeds, fail as well, "
        "or run anyway.",
        json_schema_extra={"default": OnDependencyFailure.BLOCK.value},
    )
    unique_key: Annotated[Text | None, TEXT_ERROR] = Field(
        None, description="Unique among the unfinished jobs of the office."
    )
    run_at: Annotated[TimeWithOffset | None, ErrorText("time_with_offset")] = Field(
        None, description="Earliest start, with an offset; within ten years."
    )


# The batch of a submission: a new one, or one of the office's by its id.
class BatchIn(ApiModel):
    model_config = ConfigDict(extra="forbid", strict=True, title="BatchReference")

    id: Annotated[Annotated[UUID, Field(strict=False)] | None, ErrorText("uuid")] = Field(
        None, description="Jobs are added to an existing batch."
    )
    name: Annotated[Text | None, EMPTY_IS_NONE, TEXT_ERROR] = None


# jobs/submission.py reads the jobs one by one, to report errors of many.
class BatchSubmissionIn(ApiModel):
    model_config = ConfigDict(extra="forbid")

    batch: BatchIn | None = None
    jobs: list[JobIn] = Field(description="At most 10,000, with 100,000 dependencies.")


def field_errors(model: type[BaseModel], error: ValidationError) -> FieldErrors:
    """The errors of a model by field; "" is the whole object."""
    errors: FieldErrors = {}
    for problem in error.errors(include_url=False, include_input=False):
        name = str(problem["loc"][0]) if problem["loc"] else ""
        if name not in model.model_fields:
            text = ErrorText("unknown_field") if name else OBJECT_ERROR
        elif problem["type"] == "time_out_of_range":
            text = ErrorText("time_out_of_range")
        else:
            text = next(each for each in model.model_fields[name].metadata if isinstance(each, ErrorText))
        errors[name] = [text]
    return errors


class ProgressOut(ApiOut):
    fraction: (
        Annotated[int | float, WithJsonSchema({"type": "number", "maximum": 1, "minimum": 0})] | None
    ) = Field(description="From 0 to 1; null if unknown.")
    message: str = Field(description="A message from the Task.")


class JobOut(ApiOut):
    id: UUID
    ref: TextOrNone = Field(description="The name within its submission.")
    office_id: UUID
    batch: UUID | None = Field(
        validation_alias="batch_id", description="Null for a job submitted on its own."
    )
    task_id: str
    args: dict[str, Any]
    role: str = Field(description="The role whose workers run it.")
    priority: int = Field(description="Lower runs earlier.")
    urgent: bool = Field(description="Runs before all jobs that are not urgent.")
    status: Annotated[str, AnyOf(JobStatus.choices)]
    depends_on: list[UuidText] = Field(description="In submission order.")
    on_dependency_failure: Annotated[str, AnyOf(OnDependencyFailure.choices)] = Field(
        description="Whether the job then waits, fails as well, or runs anyway."
    )
    timeout_ms: int = Field(description="Time limit of an attempt.")
    queue_timeout_ms: int | None = Field(description="How long it may wait after it became ready.")
    max_retries: int
    retry_count: int = Field(description="Retries so far.")
    retry_at: Time | None = Field(description="Time of the next retry.")
    run_at: Time | None = Field(description="Earliest start.")
    created_at: Time
    queued_at: Time | None = Field(validation_alias="ready_at", description="When it last became ready.")
    started_at: Time | None = Field(
        validation_alias="claimed_at",
        description="When a worker first claimed it; null while it waits for one.",
    )
    completed_at: Time | None
    cancelled_at: Time | None = Field(description="On a job that is still processing: asked to stop.")
    failure_type: FailureOrNone = Field(description="From the last attempt.")
    error_message: TextOrNone = Field(description="From the last attempt.")
    result: Any = Field(
        None, validation_alias=AliasPath("execution", "result"), description="What the Task returned."
    )
    progress: ProgressOut | None = Field(None, validation_alias=AliasPath("execution", "progress"))
    session_id: TextOrNone = Field(
        None,
        validation_alias=AliasPath("execution", "session_id"),
        description="The session id that the Task recorded.",
    )
    unique_key: TextOrNone = Field(description="Unique among the unfinished jobs of the office.")


class AttemptOut(ApiOut):
    number: int
    started_at: Time
    timeout_at: Time = Field(description="When its time limit ends.")
    ended_at: Time | None = Field(description="Null while it runs.")
    outcome: Annotated[Annotated[str, AnyOf(Outcome.choices)] | None, EMPTY_IS_NONE]
    failure_type: FailureOrNone
    error_message: TextOrNone = Field(validation_alias="error")
    traceback: TextOrNone = Field(description="The frames of the Task's own code.")
    worker: TextOrNone
    session_id: TextOrNone = Field(description="The session that the Task recorded.")


class JobExecutionOut(ApiOut):
    id: UUID
    attempt: int = Field(description="Number of the attempt, from 1; 0 before the first one.")
    status: Annotated[str, AnyOf(EXECUTION_STATUSES)]
    started_at: Time | None
    timeout_at: Time | None = Field(description="The attempt is stopped at this time.")
    completed_at: Time | None = Field(validation_alias="finished_at")
    session_id: TextOrNone
    error_message: TextOrNone = Field(validation_alias="error")
    worker: TextOrNone
    attempts: list[AttemptOut]


class JobInFullOut(JobOut):
    executions: list[JobExecutionOut]


class SchedulerEventOut(ApiOut):
    id: int
    type: Annotated[str, AnyOf(CLIENT_EVENTS)]
    job_id: UUID | None = Field(description="Null for an event of a whole batch.")
    batch_id: UUID | None
    office_id: UUID
    details: JSON = Field(description="Further data; the keys depend on the type.")
    timestamp: Time = Field(validation_alias="at")
