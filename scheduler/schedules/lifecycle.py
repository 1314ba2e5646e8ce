"""Creates, changes, pauses, resumes and deletes schedules. Beat's next tick sees each change.

A change of the Task or its arguments keeps the next run; a change of the rule counts from now on.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from jobs import activity, deletions
from jobs.errors import Conflict
from jobs.models import Deletion
from jobs.states import Act, DeletedKind
from scheduler.models import Schedule
from scheduler.schedules import failing, rules
from scheduler.schedules.calendars import find_of_owner
from scheduler.schedules.rules import TIMING, Kind
from scheduler.schedules.validation import EMPTY, FIELD_OF_KIND, check_rule, check_task

# What a deletion clears.
CLEARED = ("enabled", "next_run_at", "calendar_id", "notify_office_id", "failing_since")
# The names of schedules that the activity log lists for one act.
MOST_NAMES = 20


def create(values: dict[str, Any], *, owner: Any, now: datetime) -> Schedule:
    with transaction.atomic():
        schedule = _write(Schedule(owner=owner, created_at=now, anchor=now), values, now)
        _record(Act.SCHEDULE_CREATED, schedule)
    return schedule


def change(schedule_id: UUID | str, values: dict[str, Any], *, now: datetime) -> Schedule:
    """Write under the lock that firing takes too: each due time fires by the old rule or by the new one."""
    with transaction.atomic():
        schedule = Schedule.objects.select_for_update().get(pk=schedule_id)
        before = activity.values_of(schedule, values)
        _write(schedule, values, now)
        if fields := activity.changed_fields(schedule, before):
            if fields == ["enabled"]:
                _record(Act.SCHEDULE_RESUMED if schedule.enabled else Act.SCHEDULE_PAUSED, schedule)
            else:
                _record(Act.SCHEDULE_CHANGED, schedule, fields=fields)
        return schedule


def pause(schedule_id: UUID | str, *, now: datetime) -> Schedule:
    """Stop firing until the schedule is resumed. Runs due while it is paused are not backfilled."""
    return change(schedule_id, {"enabled": False}, now=now)


def resume(schedule_id: UUID | str, *, now: datetime) -> Schedule:
    """Fire again from now on."""
    return change(schedule_id, {"enabled": True}, now=now)


def pause_all(task_id: str, *, owner: User, now: datetime) -> int:
    """Pause all schedules of a Task that this user owns, or none; how many were enabled."""
    return _enable_all(task_id, owner, Act.SCHEDULES_PAUSED, now)


def resume_all(task_id: str, *, owner: User, now: datetime) -> int:
    """Resume all schedules of a Task that this user owns, or none; how many were paused."""
    return _enable_all(task_id, owner, Act.SCHEDULES_RESUMED, now)


def _enable_all(task_id: str, owner: User, act: Act, now: datetime) -> int:
    enabled = act == Act.SCHEDULES_RESUMED
    with transaction.atomic():
        own = Schedule.objects.filter(owner=owner, task_id=task_id, enabled=not enabled)
        rows = list(own.select_for_update(of=("self",)).order_by("pk"))
        for schedule in rows:
            _write(schedule, {"enabled": enabled}, now)
        if rows:
            names = [schedule.name for schedule in rows[:MOST_NAMES]]
            facts: dict[str, Any] = {"task_id": task_id, "count": len(rows), "schedules": names}
            activity.record(act, owner=owner.pk, actor=owner.get_username(), **facts)
    return len(rows)


def remove(schedule_id: UUID | str, *, now: datetime, undo_for: User | None = None) -> Deletion | None:
    """Delete the schedule. Executions that it started continue, and stay visible to its owner.

    Of several deletions at once only the first has an effect. `undo_for` may restore it.
    """
    with transaction.atomic():
        schedule = Schedule.objects.select_for_update(of=("self",)).filter(pk=schedule_id).first()
        if schedule is None:
            return None
        deletion = deletions.record(DeletedKind.SCHEDULE, schedule, undo_for, now) if undo_for else None
        Schedule.objects.filter(pk=schedule.pk).update(
            deleted_at=now,
            updated_at=now,
            enabled=False,
            next_run_at=None,
            calendar=None,
            notify_office=None,
            failing_since=None,
        )
        _record(Act.SCHEDULE_DELETED, schedule)
    return deletion


def restore(deletion: Deletion, *, now: datetime) -> Schedule:
    """Undo a deletion. Due times in between are decided as if beat had not run; raises Conflict."""
    values = deletions.values_of(deletion, Schedule)
    with deletions.claim(deletion, now):
        deleted = Schedule.with_deleted.filter(pk=values["id"], deleted_at=deletion.deleted_at)
        if not deleted.update(deleted_at=None, updated_at=now, **{name: values[name] for name in CLEARED}):
            raise Conflict("cannot_undo")
        schedule = Schedule.objects.get(pk=values["id"])
        _record(Act.SCHEDULE_RESTORED, schedule)
    return schedule


def _record(act: Act, schedule: Schedule, **details: Any) -> None:
    activity.record(act, owner=schedule.owner_id, schedule=schedule.name, **details)


def _write(schedule: Schedule, values: dict[str, Any], now: datetime) -> Schedule:
    notified_on = _notified_on(schedule)
    was_enabled, old = schedule.enabled, activity.values_of(schedule, TIMING)
    is_new = schedule._state.adding
    if "calendar" in values:
        values = values | {"calendar": find_of_owner(values["calendar"], schedule.owner_id)}
    if "notify_office" in values:
        values = values | {"notify_office": failing.find_of_owner(values["notify_office"], schedule.owner)}
    for field, value in values.items():
        setattr(schedule, field, value)
    if not is_new and values.get("kind", old["kind"]) != old["kind"]:
        _clear_other_kinds(schedule, values)
    timing = activity.values_of(schedule, TIMING)
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
    if _notified_on(schedule) != notified_on:
        schedule.consecutive_failures = schedule.consecutive_missed = 0
        schedule.failing_since = None
    schedule.updated_at = now
    schedule.save()
    return schedule


def _notified_on(schedule: Schedule) -> tuple[object, ...]:
    """The fields whose change makes the failures count from the start."""
    return schedule.enabled, schedule.notify_after_failures, schedule.notify_after_missed


def _clear_other_kinds(schedule: Schedule, values: dict[str, Any]) -> None:
    # A change of kind brings the new kind's field; the caller need not empty the old kind's field.
    for kind, field in FIELD_OF_KIND.items():
        if kind != Kind(schedule.kind) and field not in values:
            setattr(schedule, field, EMPTY[field])
