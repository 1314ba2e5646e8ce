"""The fields of schedules, and of rules that are previewed, in requests."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError
from rest_framework.exceptions import ValidationError
from rest_framework.fields import DateTimeField

from jobs.api_model import WHOLE, ApiIn, Object, OneOf, Uuid
from jobs.field_types import Delay, Name, Retries, Timeout
from jobs.states import Backoff, OnLost
from scheduler.api.schemas import KINDS, POLICIES
from scheduler.schedules.catchup import DEFAULT_GRACE_SECONDS
from scheduler.schedules.timezones import KOREAN_TIME
from scheduler.schedules.validation import (
    MAX_GRACE_SECONDS,
    MAX_INTERVAL_SECONDS,
    MAX_NOTIFY_AFTER,
)
from scheduler.states import Overlap

MAX_TIMES = 100


def _moment(value: object) -> datetime:
    if not isinstance(value, str):
        raise PydanticCustomError("string_type", "not a text")
    try:
        moment: datetime = DateTimeField().run_validation(value)
    except ValidationError as error:
        raise PydanticCustomError("moment", "{text}", {"text": str(error.args[0])}) from None
    return moment


# Without an offset it is Korean time.
Moment = Annotated[
    datetime, PlainValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})
]
# A null of the API, also as the default, is an empty text in the row.
NONE_IS_EMPTY = AfterValidator(lambda value: value or "")


# The fields of a preview, which a schedule has too.
class RuleIn(ApiIn):
    kind: Annotated[str, OneOf(KINDS)] = Field(description="Each kind takes its own field below.")
    cron: Annotated[Annotated[str, Field(max_length=1000)] | None, NONE_IS_EMPTY] = Field(
        None,
        validate_default=True,
        description="For the kind cron: five fields, like `0 9 * * 1-5`, or six with the second first.",
    )
    every_seconds: Annotated[int, Field(ge=1, le=MAX_INTERVAL_SECONDS), WHOLE] | None = Field(
        None, description="For the kind interval."
    )
    at: Moment | None = Field(None, description="For the kind once. Without an offset it is Korean time.")
    timezone: Annotated[str, Field(min_length=1, max_length=64)] = Field(
        KOREAN_TIME, description="The time zone of `cron`."
    )
    starts_at: Moment | None = Field(None, description="The schedule does not fire before this time.")
    ends_at: Moment | None = Field(None, description="The schedule does not fire after this time.")


class PreviewIn(RuleIn):
    count: Annotated[int, Field(ge=1, le=MAX_TIMES), WHOLE] = Field(5, description="How many times.")


class ScheduleIn(RuleIn):
    name: Name
    task_id: Name = Field(description="One of `GET /api/tasks`.")
    args: Object = Field(default_factory=dict, description="Arguments that match the Task's `args_schema`.")
    enabled: bool = True
    overlap: Annotated[str, OneOf(Overlap.choices)] = Field(
        Overlap.SKIP.value, description="What happens if the previous run is still in progress."
    )
    catch_up: Annotated[str, OneOf(POLICIES)] = Field(
        "latest", description="Which of the runs missed in an outage are run afterwards."
    )
    grace: Annotated[int, Field(ge=1, le=MAX_GRACE_SECONDS), WHOLE] = Field(
        DEFAULT_GRACE_SECONDS,
        description="With the `catch_up` policy none: how many seconds late a run may still start.",
    )
    calendar: Uuid | None = Field(
        None, description="A calendar of yours: at its days and times no run starts."
    )
    max_retries: Retries = 3
    retry_backoff: Annotated[Annotated[str, OneOf(Backoff.choices)] | None, NONE_IS_EMPTY] = Field(
        None, validate_default=True, description="How the delay grows; null: exponential."
    )
    retry_base_delay: Delay | None = Field(
        None, description="The first delay, in milliseconds; default: the Task's."
    )
    timeout_ms: Timeout | None = Field(None, description="Time limit of an attempt; default: the Task's.")
    on_lost: Annotated[Annotated[str, OneOf(OnLost.choices)] | None, NONE_IS_EMPTY] = Field(
        None, validate_default=True, description="What happens if the worker dies; default: as the Task says."
    )
    notify_after_failures: Annotated[int, Field(ge=1, le=MAX_NOTIFY_AFTER), WHOLE] | None = Field(
        None, description="Notify when so many runs in a row have failed for good; null: never."
    )
    notify_after_missed: Annotated[int, Field(ge=1, le=MAX_NOTIFY_AFTER), WHOLE] | None = Field(
        None,
        description="Notify when so many scheduled runs were missed since the last success; null: never.",
    )
    notify_office: Uuid | None = Field(
        None, description="An office in which you may act: its webhooks and mail addresses are notified too."
    )
