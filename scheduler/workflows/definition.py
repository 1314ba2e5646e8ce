"""What a schedule says, checked as a whole before it is written."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings

from jobs import registry
from jobs.errors import ErrorText, Invalid, InvalidArgs, TooLarge
from jobs.sql import call
from scheduler.schedules import cron, rules
from scheduler.schedules.rules import Kind, Rule
from scheduler.workflows.recurrence import known_zone, within_reach

LONGEST_INTERVAL = 10 * 366 * 86_400
MOST_RETRIES = 100
# The fields that say when, by kind; each kind takes its own and no other.
FIELD_OF_KIND = {Kind.CRON: "cron", Kind.INTERVAL: "every_seconds", Kind.ONCE: "at"}
EMPTY: dict[str, object] = {"cron": "", "every_seconds": None, "at": None}
TIMING = ("kind", "cron", "every_seconds", "at", "timezone", "starts_at", "ends_at")


@dataclass
class Problems:
    found: dict[str, list[str]]

    def add(self, field: str, why: str) -> None:
        self.found.setdefault(field, []).append(why)

    def refuse(self) -> None:
        if self.found:
            field, why = next(iter(self.found.items()))
            raise Invalid(f"{field}: {why[0]}", errors=self.found)


def check_task(task_id: str, args: dict[str, Any]) -> registry.Task:
    """The Task, if it exists, may be started by clients, and takes these args."""
    try:
        task = registry.find(task_id)
    except registry.UnknownTask as unknown:
        raise Invalid(errors={"task_id": [unknown.text]}) from None
    if not task.public:
        raise Invalid(errors={"task_id": [ErrorText("internal_task", task=task_id)]})
    size = len(call.as_json(args).encode())
    if size > settings.DURE_MAX_ARGS_BYTES:
        raise TooLarge("args_too_large", field="args", size=size, limit=settings.DURE_MAX_ARGS_BYTES)
    try:
        task.check_args(args)
    except InvalidArgs as refused:
        raise Invalid(errors={"args": refused.errors}) from None
    return task


def check_rule(given: dict[str, Any], now: datetime) -> Rule:
    """The rule that the fields describe, if it fires at least once after `now`."""
    problems = Problems({})
    kind = Kind(given["kind"])
    for other, field in FIELD_OF_KIND.items():
        if other == kind and given.get(field) in ("", None):
            problems.add(field, f"A schedule of the kind {kind} needs it.")
        elif other != kind and given.get(field) not in ("", None):
            problems.add(field, f"It belongs to the kind {other}, and this schedule is of the kind {kind}.")
    try:
        known_zone(given["timezone"])
    except ValueError as unknown:
        problems.add("timezone", str(unknown))
    for field in ("at", "starts_at", "ends_at"):
        try:
            if given.get(field) is not None:
                within_reach(given[field])
        except ValueError as refused:
            problems.add(field, f"It is refused: {refused}")
    problems.refuse()
    rule = _rule(given, kind, now)
    _check_that_it_fires(rule, now, problems)
    problems.refuse()
    return rule


def _rule(given: dict[str, Any], kind: Kind, now: datetime) -> Rule:
    return Rule(
        kind=kind,
        zone=ZoneInfo(given["timezone"]),
        cron=given.get("cron") or "",
        every_seconds=given.get("every_seconds") or 0,
        at=given.get("at"),
        anchor=given.get("starts_at") or now,
        starts_at=given.get("starts_at"),
        ends_at=given.get("ends_at"),
    )


def _check_that_it_fires(rule: Rule, now: datetime, problems: Problems) -> None:
    if rule.kind == Kind.CRON:
        try:
            cron.validate(rule.cron, rule.zone, max(now, rule.starts_at or now))
        except cron.CronError as refused:
            problems.add("cron", str(refused))
            return
    if rule.starts_at and rule.ends_at and rule.ends_at <= rule.starts_at:
        problems.add("ends_at", "It lies before starts_at.")
    elif rule.kind == Kind.ONCE and rule.at is not None and rule.at <= now:
        problems.add("at", "It lies in the past.")
    elif rules.next_after(rule, now) is None:
        problems.add("ends_at" if rule.ends_at else "at", "The schedule would never fire.")
