"""A workflow's `schedule_config` in OpenAPI, as scheduler/workflows/recurrence.py reads it."""

from typing import Any

from scheduler.workflows.recurrence import MAX_TIMES, MAX_WEEKS

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
TIME: JSON = {
    "type": "string",
    "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$",
    "description": "Like 09:00.",
}
# Null in the configs that do not use them.
OPTIONAL = ("time", "times", "days_of_week", "every_weeks", "starts_on", "day_of_month")
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


def recurring_configs(title: str, pattern: str, **fields: JSON) -> list[JSON]:
    """The configs of a pattern: with one time of the day, and with several."""
    several = {"type": "array", "items": TIME, "minItems": 1, "maxItems": MAX_TIMES}
    return [
        _recurring_config(title, pattern, time=TIME, **fields),
        _recurring_config(f"{title}, at several times", pattern, times=several, **fields),
    ]


def _recurring_config(title: str, pattern: str, **fields: JSON) -> JSON:
    described = config(title, "recurring", pattern={"type": "string", "enum": [pattern]}, **fields)
    described["properties"] |= {
        "timezone": {"type": "string", "minLength": 1, "default": "Asia/Seoul"},
        **{name: {"type": "null"} for name in OPTIONAL if name not in fields},
    }
    return described


SCHEDULE_CONFIG: JSON = {
    "description": "When it runs.",
    "oneOf": [
        config("at once", "immediate"),
        config("later", "delayed", delay_seconds=DELAY),
        config("at a set time", "scheduled", at=AT),
        *recurring_configs("daily", "daily"),
        *recurring_configs("weekly", "weekly", days_of_week=DAYS_OF_WEEK),
        *recurring_configs(
            "every n-th week",
            "weekly",
            days_of_week=DAYS_OF_WEEK,
            every_weeks={"type": "integer", "minimum": 1, "maximum": MAX_WEEKS},
            starts_on={
                "type": "string",
                "format": "date",
                "description": "A day of the first week. Nothing runs before it.",
            },
        ),
        *recurring_configs("monthly", "monthly", day_of_month=DAY_OF_MONTH),
    ],
}
