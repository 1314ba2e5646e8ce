"""Pydantic models of submissions, for submission.py and the API's schema.

JSON's types are taken as they are: "5" is not a number, and true is not 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from django.utils import timezone
from django.utils.dateparse import parse_datetime
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from dure import roles
from jobs.errors import ErrorText, FieldErrors, InvalidValue
from jobs.states import Backoff, OnDependencyFailure

LONGEST_TEXT = 200
LONGEST_TIMEOUT_MS = 30 * 86_400_000
LONGEST_DELAY_MS = 24 * 3_600_000
MOST_RETRIES = 100
LOWEST_PRIORITY, HIGHEST_PRIORITY = -(2**31), 2**31 - 1
FURTHEST_AHEAD = timedelta(days=3650)
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class OneOf:
    """Restricts a text to these values, in pydantic and in the schema that it writes."""

    allowed: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.literal_schema(list(self.allowed))


def _whole(value: object) -> object:
    """Convert 5.0, which is a whole number in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _utc_time(value: object) -> str:
    """A time with its offset, in UTC: PostgreSQL does not know every offset that a client may write."""
    try:
        time = parse_datetime(value) if isinstance(value, str) else None
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise PydanticCustomError("time_with_offset", "not a time with its offset")
    if not EARLIEST <= time <= timezone.now() + FURTHEST_AHEAD:
        raise PydanticCustomError("time_out_of_range", "out of range")
    return time.astimezone(UTC).isoformat()


def _role(name: str) -> str:
    if not roles.is_role(name):
        raise InvalidValue("role_name")
    return name


# Must come after Field(ge=…), or the bounds are missing from the JSON schema.
WHOLE = BeforeValidator(_whole)
EMPTY_IS_NONE = BeforeValidator(lambda value: value or None)
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
NotEmpty = Annotated[str, Field(min_length=1)]
Role = Annotated[str, AfterValidator(_role)]
Strategy = Annotated[str, OneOf(tuple(Backoff.values))]
DependencyPolicy = Annotated[str, OneOf(tuple(OnDependencyFailure.values))]
Priority = Annotated[int, Field(ge=LOWEST_PRIORITY, le=HIGHEST_PRIORITY), WHOLE]
Timeout = Annotated[int, Field(ge=1, le=LONGEST_TIMEOUT_MS), WHOLE]
Retries = Annotated[int, Field(ge=0, le=MOST_RETRIES), WHOLE]
Delay = Annotated[int, Field(ge=0, le=LONGEST_DELAY_MS), WHOLE]
Time = Annotated[str, BeforeValidator(_utc_time)]

# The API's error for an invalid field: one text for each field, instead of pydantic's.
TEXT_ERROR = ErrorText("text_up_to", limit=LONGEST_TEXT)
OBJECT_ERROR = ErrorText("object")


def _between(low: int, high: int) -> ErrorText:
    return ErrorText("whole_number_between", low=low, high=high)


def _one_of(allowed: Sequence[str]) -> ErrorText:
    return ErrorText("one_of", limit=", ".join(allowed))


class JobIn(BaseModel):
    """One job of a submission. None is like a field that is not there: its default applies."""

    model_config = ConfigDict(extra="forbid", strict=True)

    ref: Annotated[Text | None, TEXT_ERROR] = None
    task_id: Annotated[NotEmpty, ErrorText("required")]
    args: Annotated[dict[str, Any] | None, OBJECT_ERROR] = None
    role: Annotated[Role | None, ErrorText("role_name")] = None
    priority: Annotated[Priority | None, _between(LOWEST_PRIORITY, HIGHEST_PRIORITY)] = None
    urgent: Annotated[bool | None, ErrorText("boolean")] = None
    depends_on: Annotated[list[NotEmpty] | None, ErrorText("dependency_list")] = None
    on_dependency_failure: Annotated[DependencyPolicy | None, _one_of(OnDependencyFailure.values)] = None
    timeout_ms: Annotated[Timeout | None, _between(1, LONGEST_TIMEOUT_MS)] = None
    queue_timeout_ms: Annotated[Timeout | None, _between(1, LONGEST_TIMEOUT_MS)] = None
    max_retries: Annotated[Retries | None, _between(0, MOST_RETRIES)] = None
    retry_backoff: Annotated[Strategy | None, _one_of(Backoff.values)] = None
    retry_base_delay: Annotated[Delay | None, _between(0, LONGEST_DELAY_MS)] = None
    unique_key: Annotated[Text | None, TEXT_ERROR] = None
    run_at: Annotated[Time | None, ErrorText("time_with_offset")] = None


class BatchIn(BaseModel):
    """The batch of a submission: a new one, or one of the office's by its id."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: Annotated[Annotated[UUID, Field(strict=False)] | None, ErrorText("uuid")] = None
    name: Annotated[Text | None, EMPTY_IS_NONE, TEXT_ERROR] = None


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
