"""The types of the fields of requests, with their limits: of submissions above all."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from django.utils import timezone
from django.utils.dateparse import parse_datetime
from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from dure import roles
from jobs.api_model import WHOLE
from jobs.errors import InvalidValue

LONGEST_TEXT = 200
LONGEST_REASON = 500
LONGEST_TIMEOUT_MS = 30 * 86_400_000
LONGEST_DELAY_MS = 24 * 3_600_000
MOST_RETRIES = 100
LOWEST_PRIORITY, HIGHEST_PRIORITY = -(2**31), 2**31 - 1
FURTHEST_AHEAD = timedelta(days=3650)
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


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


Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
Reason = Annotated[str, Field(max_length=LONGEST_REASON)]
NotEmpty = Annotated[str, Field(min_length=1)]
Role = Annotated[str, StringConstraints(min_length=1, strip_whitespace=False), AfterValidator(_role)]
RoleName = Annotated[Role, WithJsonSchema({"type": "string", "pattern": roles.PATTERN, "minLength": 1})]
Priority = Annotated[int, Field(ge=LOWEST_PRIORITY, le=HIGHEST_PRIORITY), WHOLE]
Timeout = Annotated[int, Field(ge=1, le=LONGEST_TIMEOUT_MS), WHOLE]
Retries = Annotated[int, Field(ge=0, le=MOST_RETRIES), WHOLE]
Delay = Annotated[int, Field(ge=0, le=LONGEST_DELAY_MS), WHOLE]
TimeWithOffset = Annotated[
    str, BeforeValidator(_utc_time), WithJsonSchema({"type": "string", "format": "date-time"})
]
