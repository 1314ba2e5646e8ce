"""The form of a workflow: its texts, what they tell the API, and what the API would say of that.

Who edits sends only what has been changed, as a PATCH does: a mode that stays keeps its next run.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jobs.api.framework.problem_details import flatten_errors
from jobs.errors import Refused
from jobs.models import Office
from scheduler.api.workflows import WorkflowSerializer
from scheduler.models import Workflow
from scheduler.pages.schedule_form import UNITS, Errors
from scheduler.pages.written import as_text, instant, json_of, wall_text, whole_number
from scheduler.states import WorkflowStatus
from scheduler.workflows import recurrence
from scheduler.workflows.recurrence import KOREAN_TIME, ConfigError, ScheduleConfig
from scheduler.workflows.steps import prepare

Texts = Mapping[str, str]

MODES = ("immediate", "delayed", "scheduled", "recurring")
PATTERNS = ("daily", "weekly", "monthly")
LAST_DAY = "last"
CONFIG = ("mode", "delay", "unit", "at", "pattern", "time", "days_of_week", "day_of_month", "timezone")
FIELDS = ("name", "status", "steps", *CONFIG)
# Which field of the form shows what is wrong with one of the API.
FIELD_OF = {"schedule_config": "mode", "delay_seconds": "delay"}
EXAMPLE = [
    {"ref": "load", "task_id": "demo.sum", "args": {"numbers": [1, 2]}},
    {"ref": "send", "task_id": "demo.sum", "args": {"numbers": [3]}, "depends_on": ["load"]},
]
FIRST_OF_STEP = ("ref", "task_id", "args", "depends_on")
EMPTY_CONFIG: Texts = {
    **dict.fromkeys(CONFIG, ""),
    "unit": "minutes",
    "pattern": "daily",
    "time": "09:00",
    "day_of_month": "1",
    "timezone": KOREAN_TIME,
}
NEW: Texts = {
    "name": "",
    "status": WorkflowStatus.DRAFT,
    "steps": as_text(EXAMPLE),
    **EMPTY_CONFIG,
    "mode": "recurring",
}


@dataclass(frozen=True)
class Checked:
    given: dict[str, Any]
    # As far as they could be read.
    config: ScheduleConfig | None
    steps: Any
    errors: Errors


def texts_of(workflow: Workflow) -> Texts:
    return {
        "name": workflow.name,
        "status": workflow.status,
        "steps": as_text([in_order(step) for step in workflow.steps]),
        **EMPTY_CONFIG,
        **config_texts(recurrence.read(workflow.schedule_config)),
    }


def in_order(step: Mapping[str, Any]) -> dict[str, Any]:
    """The database keeps an object's keys in an order of its own."""
    return {name: step[name] for name in (*FIRST_OF_STEP, *step) if name in step}


def config_texts(config: ScheduleConfig) -> Texts:
    match config:
        case recurrence.Delayed():
            unit = next(name for name in reversed(UNITS) if config.delay_seconds % UNITS[name] == 0)
            return {"mode": config.mode, "delay": str(config.delay_seconds // UNITS[unit]), "unit": unit}
        case recurrence.Scheduled():
            return {"mode": config.mode, "at": wall_text(config.at, KOREAN_TIME)}
        case recurrence.Recurring():
            return {
                "mode": config.mode,
                "pattern": config.pattern,
                "time": config.time,
                "days_of_week": ",".join(str(day) for day in config.days_of_week or ()),
                "day_of_month": str(config.day_of_month or 1),
                "timezone": config.timezone,
            }
    return {"mode": config.mode}


def check(texts: Texts, workflow: Workflow | None, office: Office | None) -> Checked:
    errors: Errors = {}

    def take(name: str, reading: Callable[[], Any]) -> Any:
        try:
            return reading()
        except ValueError as refused:
            errors[name] = [getattr(refused, "text", None) or str(refused)]
            return None

    steps = take("steps", lambda: json_of(texts["steps"].strip() or "[]", workflow.steps if workflow else []))
    written, refused = config_of(texts)
    errors |= refused
    body = {"name": texts["name"], "status": texts["status"], "steps": steps, "schedule_config": written}
    if workflow is not None:
        wanted = changed(texts, texts_of(workflow))
        body = {name: value for name, value in body.items() if name in wanted}
    body = {name: value for name, value in body.items() if name not in errors}
    serializer = WorkflowSerializer(data=body, partial=workflow is not None)
    if not serializer.is_valid():
        errors = flatten_errors(serializer.errors) | errors
    config: ScheduleConfig | None = None
    if not refused:
        try:
            config = recurrence.read(written)
        except ConfigError as wrong:
            errors |= wrong.errors
    if office is not None and "steps" not in errors:
        errors |= refusal_of_steps(office, steps)
    return Checked(dict(serializer.validated_data) if not errors else {}, config, steps, errors)


def refusal_of_steps(office: Office, steps: Any) -> Errors:
    try:
        prepare(office, steps)
    except Refused as refused:
        return refused.errors or {"steps": [refused.text]}
    return {}


def config_of(texts: Texts) -> tuple[dict[str, Any], Errors]:
    errors: Errors = {}
    config: dict[str, Any] = {"mode": texts["mode"]}
    try:
        match texts["mode"]:
            case "delayed":
                config["delay_seconds"] = whole_number(texts["delay"].strip()) * UNITS.get(texts["unit"], 1)
            case "scheduled":
                config["at"] = instant(texts["at"], KOREAN_TIME)
            case "recurring":
                config |= recurring_of(texts)
    except ValueError as refused:
        errors[{"delayed": "delay", "scheduled": "at"}.get(texts["mode"], "day_of_month")] = [
            getattr(refused, "text", None) or str(refused)
        ]
    return config, errors


def recurring_of(texts: Texts) -> dict[str, Any]:
    config: dict[str, Any] = {name: texts[name] for name in ("pattern", "time", "timezone")}
    if texts["pattern"] == "weekly":
        config["days_of_week"] = [int(day) for day in texts["days_of_week"].split(",") if day.isdecimal()]
    if texts["pattern"] == "monthly":
        day = texts["day_of_month"]
        config["day_of_month"] = day if day == LAST_DAY else whole_number(day)
    return config


def changed(texts: Texts, before: Texts) -> set[str]:
    found = {name for name in ("name", "status", "steps") if texts[name] != before[name]}
    if config_of(texts) != config_of(before):
        found.add("schedule_config")
    return found
