"""A workflow's `schedule_config` in OpenAPI, as scheduler/workflows/recurrence.py reads it."""

from typing import Any

JSON = dict[str, Any]

DAYS_OF_WEEK: JSON = {
    "type": "array",
    "items": {"type": "integer", "minimum": 0, "maximum": 6},
    "minItems": 1,
    "description": "Monday is 0.",
}
DAY_OF_MONTH: JSON = {
    "oneOf": [{"type": "integer", "minimum": 1, "maximum": 31}, {"type": "string", "enum": ["last"]}],
    "description": "A month without the day runs on its last.",
}
DELAY: JSON = {"type": "integer", "minimum": 0, "maximum": 366 * 86_400}
AT: JSON = {"type": "string", "format": "date-time", "description": "Without an offset it is Korean time."}


def config(title: str, mode: str, **fields: JSON) -> JSON:
    return {
        "title": title,
        "type": "object",
        "required": ["mode", *fields],
        "properties": {"mode": {"type": "string", "enum": [mode]}, **fields},
        "additionalProperties": False,
    }


def recurring(pattern: str, **fields: JSON) -> JSON:
    time = {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$", "description": "Like 09:00."}
    described = config(
        pattern, "recurring", pattern={"type": "string", "enum": [pattern]}, time=time, **fields
    )
    described["properties"] |= {
        "timezone": {"type": "string", "minLength": 1, "default": "Asia/Seoul"},
        **{name: {"type": "null"} for name in ("days_of_week", "day_of_month") if name not in fields},
    }
    return described


SCHEDULE_CONFIG: JSON = {
    "description": "When it runs.",
    "oneOf": [
        config("at once", "immediate"),
        config("later", "delayed", delay_seconds=DELAY),
        config("at a set time", "scheduled", at=AT),
        recurring("daily"),
        recurring("weekly", days_of_week=DAYS_OF_WEEK),
        recurring("monthly", day_of_month=DAY_OF_MONTH),
    ],
}
