"""Checks of a schedule's Task and rule, before it is written."""

from datetime import datetime
from typing import Any

from jobs import catalogue
from jobs.errors import ArgsRefused, ErrorText, FieldErrors, Invalid, InvalidValue
from jobs.known_tasks import KnownTask, UnknownTask, check_size
from scheduler.schedules import cron, rules
from scheduler.schedules.cron_fields import CronError
from scheduler.schedules.rules import Kind, Rule
from scheduler.schedules.timezones import check_instant, check_zone

MAX_INTERVAL_SECONDS = 10 * 366 * 86_400
MAX_GRACE_SECONDS = 366 * 86_400
MAX_NOTIFY_AFTER = 1_000
# The field of each kind's own rule; a schedule has the field of its kind and no other.
FIELD_OF_KIND = {Kind.CRON: "cron", Kind.INTERVAL: "every_seconds", Kind.ONCE: "at"}
EMPTY: dict[str, object] = {"cron": "", "every_seconds": None, "at": None}


def check_task(task_id: str, args: dict[str, Any]) -> KnownTask:
    """The Task, if it exists, clients may start it, and it accepts these arguments."""
    try:
        task = catalogue.find(task_id)
    except UnknownTask as unknown:
        raise Invalid(errors={"task_id": [unknown.text]}) from None
    if not task.public:
        raise Invalid(errors={"task_id": [ErrorText("internal_task", task=task_id)]})
    check_size(args, "args")
    try:
        task.check_args(args)
    except ArgsRefused as refused:
        raise Invalid(errors={"args": refused.errors}) from None
    return task


def check_rule(values: dict[str, Any], now: datetime) -> Rule:
    """The rule that the fields of TIMING describe. It fires at least once after `now`."""
    if errors := _field_errors(values):
        raise Invalid(errors=errors)
    rule = Rule.read(values, anchor=values.get("starts_at") or now)
    _check_that_it_fires(rule, now)
    return rule


def _field_errors(values: dict[str, Any]) -> FieldErrors:
    errors: FieldErrors = {}
    kind = Kind(values["kind"])
    for other, field in FIELD_OF_KIND.items():
        is_empty = values.get(field) in ("", None)
        if other == kind and is_empty:
            errors[field] = [ErrorText("required")]
        elif other != kind and not is_empty:
            errors[field] = [ErrorText("other_kind", other=other, kind=kind)]
    try:
        check_zone(values["timezone"])
    except InvalidValue as invalid:
        errors["timezone"] = [invalid.text]
    for field in ("at", "starts_at", "ends_at"):
        try:
            if values.get(field) is not None:
                check_instant(values[field])
        except InvalidValue as invalid:
            errors.setdefault(field, []).append(invalid.text)
    return errors


def _check_that_it_fires(rule: Rule, now: datetime) -> None:
    if rule.kind == Kind.CRON:
        try:
            cron.validate(rule.cron, rule.zone, max(now, rule.starts_at or now))
        except CronError as invalid:
            raise Invalid(errors={"cron": [invalid.text]}) from None
    if rule.starts_at and rule.ends_at and rule.ends_at <= rule.starts_at:
        raise Invalid(errors={"ends_at": ["ends_before_start"]})
    if rule.kind == Kind.ONCE and rule.at is not None and rule.at <= now:
        raise Invalid(errors={"at": ["in_the_past"]})
    if rules.next_after(rule, now) is None:
        raise Invalid(errors={"ends_at" if rule.ends_at else "at": ["never_fires"]})
