"""The jobs of a submission: how submission.py reads them, and the API describes them.

JSON's types are taken as they are: "5" is not a number, and true is not 1.
"""

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jobs.api_model import EMPTY_IS_NONE, ApiModel, OneOf
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
from jobs.states import Backoff, OnDependencyFailure

DEFAULT_PRIORITY = 100

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
