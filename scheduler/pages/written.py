"""What people write in forms, read into what the API takes; each refusal is a sentence of the API's."""

import json
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from jobs.api.framework import strict_json
from jobs.display import MASK_MOVED, has_mask, mask_secrets, restore_secrets
from jobs.errors import CodedError
from scheduler.schedules.wallclock import instant_of
from scheduler.workflows.recurrence import KOREAN_TIME, zones

LONGEST_NUMBER = 15
LINE = 76


class WrittenWrong(CodedError, ValueError):
    """A field of a form holds something else than it should."""


def as_text(value: Any) -> str:
    """JSON to be edited; what is secret by its name is not shown."""
    return _laid_out(mask_secrets(value), "")


def _laid_out(value: Any, margin: str) -> str:
    """What fits stays on one line, so that a step is a line or a few."""
    line = json.dumps(value, ensure_ascii=False)
    if len(margin) + len(line) <= LINE or not isinstance(value, (dict, list)):
        return line
    inner = margin + "  "
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(key, ensure_ascii=False)}: {_laid_out(one, inner)}" for key, one in value.items()
        ]
        return "{\n" + ",\n".join(inner + part for part in parts) + f"\n{margin}}}"
    return "[\n" + ",\n".join(inner + _laid_out(one, inner) for one in value) + f"\n{margin}]"


def json_of(text: str, before: Any) -> Any:
    """The value; what is still hidden in it is what stood there before."""
    given = restore_secrets(strict_json.loads(text.encode()), before)
    if has_mask(given):
        raise WrittenWrong(MASK_MOVED.code)
    return given


def whole_number(text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= LONGEST_NUMBER):
        raise WrittenWrong("whole_number")
    return int(text)


def instant(text: str, zone: str) -> str:
    """A time by the clock of this zone, as the instant that it is."""
    try:
        wall = datetime.fromisoformat(text)
    except ValueError:
        raise WrittenWrong("time_example") from None
    if wall.tzinfo is None:
        wall = instant_of(wall, zone_of(zone))
    return wall.isoformat()


def wall_text(at: datetime | None, zone: str) -> str:
    """As the field for a time takes it."""
    return at.astimezone(zone_of(zone)).strftime("%Y-%m-%dT%H:%M:%S") if at else ""


def zone_of(name: str) -> ZoneInfo:
    # What is no time zone is refused in its own field.
    return ZoneInfo(name if name in zones() else KOREAN_TIME)
