"""The form of a schedule: its texts, what they tell the API, and what the API would say of that.

Who edits sends only what has been changed, as a PATCH does: a rule that stays keeps its next turn.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.api.framework.problem_details import flatten_errors
from jobs.errors import Refused
from scheduler.api.schedules import RuleSerializer, ScheduleSerializer
from scheduler.models import Schedule
from scheduler.pages.written import as_text, instant, json_of, wall_text, whole_number
from scheduler.schedules.catchup import CatchUp
from scheduler.schedules.rules import Kind, Rule
from scheduler.states import Overlap
from scheduler.workflows.definition import FIELD_OF_KIND, TIMING, check_rule, check_task
from scheduler.workflows.recurrence import KOREAN_TIME

Texts = Mapping[str, str]
# Texts of our own errors, and sentences of serializers.
Errors = dict[str, list[Any]]

UNITS = {"seconds": 1, "minutes": 60, "hours": 3_600, "days": 86_400}
TIMES = ("at", "starts_at", "ends_at")
# Which texts a field of the API is written in, where that is not the one of its name.
WRITTEN_IN = {"every_seconds": ("every", "unit")}
FIELDS = (
    *("name", "task_id", "args", "kind", "cron", "every", "unit", "at", "timezone", "starts_at", "ends_at"),
    *("overlap", "catch_up", "max_retries", "enabled"),
)
NEW: Texts = {
    **dict.fromkeys(FIELDS, ""),
    "args": "{}",
    "kind": Kind.CRON,
    "unit": "minutes",
    "timezone": KOREAN_TIME,
    "overlap": Overlap.SKIP,
    "catch_up": CatchUp.LATEST,
    "max_retries": "3",
    "enabled": "on",
}


@dataclass(frozen=True)
class Checked:
    """`given` is for the verb. `rule` is there when the part about time is right, whatever else is not."""

    given: dict[str, Any]
    rule: Rule | None
    errors: Errors


def texts_of(schedule: Schedule) -> Texts:
    every = schedule.every_seconds or 0
    unit = next(name for name in reversed(UNITS) if every % UNITS[name] == 0) if every else "minutes"
    return {
        "name": schedule.name,
        "task_id": schedule.task_id,
        "args": as_text(schedule.args),
        "kind": schedule.kind,
        "cron": schedule.cron,
        "every": str(every // UNITS[unit]) if every else "",
        "unit": unit,
        **{name: wall_text(getattr(schedule, name), schedule.timezone) for name in TIMES},
        "timezone": schedule.timezone,
        "overlap": schedule.overlap,
        "catch_up": schedule.catch_up,
        "max_retries": str(schedule.max_retries),
        "enabled": "on" if schedule.enabled else "",
    }


def check(texts: Texts, schedule: Schedule | None, now: datetime) -> Checked:
    body, errors = read(texts, schedule.args if schedule else {})
    if schedule is not None:
        wanted = changed(texts, texts_of(schedule))
        body = {name: value for name, value in body.items() if name in wanted}
    serializer = ScheduleSerializer(data=body, partial=schedule is not None)
    if not serializer.is_valid():
        errors = named(flatten_errors(serializer.errors)) | errors
    if schedule is None or wanted & {"task_id", "args"}:
        errors |= refusal_of_task(texts, errors, body, schedule)
    rule: Rule | None = None
    if schedule is not None and not wanted & set(TIMING):
        rule = schedule.rule
    elif errors.keys().isdisjoint(TIMING):
        rule, refused = rule_of({**rule_as_it_is(schedule), **body}, now)
        errors |= refused
    return Checked(dict(serializer.validated_data) if not errors else {}, rule, errors)


def read(texts: Texts, args: Any) -> tuple[dict[str, Any], Errors]:
    """What is left empty is not given, but for what may be taken away again."""
    own = FIELD_OF_KIND.get(texts["kind"])  # type: ignore[call-overload]
    body: dict[str, Any] = {
        **{name: texts[name] for name in ("name", "task_id", "kind", "timezone", "overlap", "catch_up")},
        "enabled": bool(texts["enabled"]),
        "cron": texts["cron"].strip() if own == "cron" else "",
        **dict.fromkeys(("every_seconds", *TIMES)),
    }
    errors: Errors = {}

    def take(name: str, text: str, reading: Callable[[str], Any]) -> None:
        try:
            body[name] = reading(text)
        except ValueError as refused:
            errors[name] = [getattr(refused, "text", None) or str(refused)]
            body.pop(name, None)

    take("args", texts["args"].strip() or "{}", lambda text: json_of(text, args))
    take("max_retries", texts["max_retries"].strip(), whole_number)
    if own == "every_seconds" and texts["every"].strip():
        factor = UNITS.get(texts["unit"], 1)
        take("every_seconds", texts["every"].strip(), lambda text: whole_number(text) * factor)
    for name in TIMES:
        if texts[name] and (name != "at" or own == "at"):
            take(name, texts[name], lambda text: instant(text, texts["timezone"]))
    return body, errors


def changed(texts: Texts, before: Texts) -> set[str]:
    """The fields of the API of which something is written differently."""
    found = {
        name
        for name in (*TIMING, "name", "task_id", "args", "overlap", "catch_up", "max_retries", "enabled")
        if any(texts[text] != before[text] for text in WRITTEN_IN.get(name, (name,)))
    }
    # Another kind comes with its own field and without the others; another zone gives times anew.
    if "kind" in found:
        found |= set(FIELD_OF_KIND.values())
    else:
        own = FIELD_OF_KIND[Kind(before["kind"])]
        found -= {*FIELD_OF_KIND.values()} - {own}
    if "timezone" in found:
        found |= {name for name in TIMES if texts[name]}
    return found


def refusal_of_task(texts: Texts, errors: Errors, body: dict[str, Any], schedule: Schedule | None) -> Errors:
    if "args" in errors or not texts["task_id"]:
        return {}
    before = schedule.args if schedule else {}
    try:
        check_task(texts["task_id"], body.get("args", before))
    except Refused as refused:
        return refused.errors or {"args": [refused.text]}
    return {}


def rule_as_it_is(schedule: Schedule | None) -> dict[str, Any]:
    if schedule is None:
        return {}
    moments = {name: at.isoformat() if (at := getattr(schedule, name)) else None for name in TIMES}
    return {name: getattr(schedule, name) for name in TIMING} | moments


def rule_of(body: dict[str, Any], now: datetime) -> tuple[Rule | None, Errors]:
    serializer = RuleSerializer(data={name: body[name] for name in TIMING if name in body})
    if not serializer.is_valid():
        return None, named(flatten_errors(serializer.errors))
    try:
        return check_rule(dict(serializer.validated_data), now), {}
    except Refused as refused:
        return None, refused.errors


def named(errors: Errors) -> Errors:
    """By the fields of the form: `args.numbers` is the field of args."""
    found: Errors = {}
    for name, sentences in errors.items():
        found.setdefault(name.partition(".")[0], []).extend(sentences)
    return found
