"""Schedules are created, changed, paused, resumed and removed. Each counts at beat's next tick.

A change of what is run keeps the time of the next turn; a change of when counts from now on.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from scheduler.models import Schedule
from scheduler.schedules import rules
from scheduler.schedules.rules import Kind
from scheduler.workflows.definition import EMPTY, FIELD_OF_KIND, TIMING, check_rule, check_task


def create(given: dict[str, Any], *, owner: Any, now: datetime) -> Schedule:
    schedule = Schedule(owner=owner, created_at=now, anchor=now)
    return _write(schedule, given, now)


def change(schedule_id: UUID | str, given: dict[str, Any], *, now: datetime) -> Schedule:
    """Under the row's lock, which a firing holds too: a turn is fired by the old rule or by the new one."""
    with transaction.atomic():
        schedule = Schedule.objects.select_for_update().get(pk=schedule_id)
        return _write(schedule, given, now)


def pause(schedule_id: UUID | str, *, now: datetime) -> Schedule:
    """Hold: nothing is due until it is resumed, and what would have been is not made up."""
    return change(schedule_id, {"enabled": False}, now=now)


def resume(schedule_id: UUID | str, *, now: datetime) -> Schedule:
    """Go on from now."""
    return change(schedule_id, {"enabled": True}, now=now)


def remove(schedule_id: UUID | str) -> None:
    """Delete it with the record of its turns. Executions that it made go on."""
    Schedule.objects.filter(pk=schedule_id).delete()


def _write(schedule: Schedule, given: dict[str, Any], now: datetime) -> Schedule:
    was_enabled, old = schedule.enabled, {field: getattr(schedule, field) for field in TIMING}
    is_new = schedule._state.adding
    for field, value in given.items():
        setattr(schedule, field, value)
    if not is_new and "kind" in given and given["kind"] != old["kind"]:
        _forget_the_other_kinds(schedule, given)
    when = {field: getattr(schedule, field) for field in TIMING}
    if is_new or {"task_id", "args"} & set(given):
        check_task(schedule.task_id, schedule.args)
    retimed = is_new or when != old
    if retimed:
        check_rule(when, now)
        schedule.anchor = schedule.starts_at or now
    if not schedule.enabled:
        schedule.next_run_at = None
    elif retimed or not was_enabled:
        schedule.next_run_at = rules.next_after(schedule.rule, now)
    schedule.updated_at = now
    schedule.save()
    return schedule


def _forget_the_other_kinds(schedule: Schedule, given: dict[str, Any]) -> None:
    # A new kind comes with its own field; the old one's is not to be given again as empty.
    for kind, field in FIELD_OF_KIND.items():
        if kind != Kind(schedule.kind) and field not in given:
            setattr(schedule, field, EMPTY[field])
