"""Creates, changes, pauses, resumes and deletes schedules. Beat's next tick sees each change.

A change of the Task or its arguments keeps the next run; a change of the rule counts from now on.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from scheduler.models import Schedule
from scheduler.schedules import rules
from scheduler.schedules.calendars import find_of_owner
from scheduler.schedules.rules import Kind
from scheduler.schedules.validation import EMPTY, FIELD_OF_KIND, TIMING, check_rule, check_task


def create(values: dict[str, Any], *, owner: Any, now: datetime) -> Schedule:
    return _write(Schedule(owner=owner, created_at=now, anchor=now), values, now)


def change(schedule_id: UUID | str, values: dict[str, Any], *, now: datetime) -> Schedule:
    """Write under the lock that firing takes too: each due time fires by the old rule or by the new one."""
    with transaction.atomic():
        schedule = Schedule.objects.select_for_update().get(pk=schedule_id)
        return _write(schedule, values, now)


def pause(schedule_id: UUID | str, *, now: datetime) -> Schedule:
    """Stop firing until the schedule is resumed. Runs due while it is paused are not backfilled."""
    return change(schedule_id, {"enabled": False}, now=now)


def resume(schedule_id: UUID | str, *, now: datetime) -> Schedule:
    """Fire again from now on."""
    return change(schedule_id, {"enabled": True}, now=now)


def change_all(schedule_ids: Sequence[UUID], values: dict[str, Any], *, now: datetime) -> int:
    """Change each of these that still exists, all or none; how many."""
    with transaction.atomic():
        rows = list(Schedule.objects.select_for_update().filter(pk__in=schedule_ids).order_by("pk"))
        for schedule in rows:
            _write(schedule, dict(values), now)
    return len(rows)


def remove(schedule_id: UUID | str, *, now: datetime) -> None:
    """Delete the schedule. Executions that it started continue, and stay visible to its owner."""
    Schedule.objects.filter(pk=schedule_id).update(
        deleted_at=now, updated_at=now, enabled=False, next_run_at=None, calendar=None
    )


def _write(schedule: Schedule, values: dict[str, Any], now: datetime) -> Schedule:
    was_enabled, old = schedule.enabled, {field: getattr(schedule, field) for field in TIMING}
    is_new = schedule._state.adding
    if "calendar" in values:
        values = values | {"calendar": find_of_owner(values["calendar"], schedule.owner_id)}
    for field, value in values.items():
        setattr(schedule, field, value)
    if not is_new and values.get("kind", old["kind"]) != old["kind"]:
        _clear_other_kinds(schedule, values)
    timing = {field: getattr(schedule, field) for field in TIMING}
    if is_new or {"task_id", "args"} & set(values):
        check_task(schedule.task_id, schedule.args)
    has_new_rule = is_new or timing != old
    if has_new_rule:
        check_rule(timing, now)
        schedule.anchor = schedule.starts_at or now
    if not schedule.enabled:
        schedule.next_run_at = None
    elif has_new_rule or not was_enabled:
        schedule.next_run_at = rules.next_after(schedule.rule, now)
    schedule.updated_at = now
    schedule.save()
    return schedule


def _clear_other_kinds(schedule: Schedule, values: dict[str, Any]) -> None:
    # A change of kind brings the new kind's field; the caller need not empty the old kind's field.
    for kind, field in FIELD_OF_KIND.items():
        if kind != Kind(schedule.kind) and field not in values:
            setattr(schedule, field, EMPTY[field])
