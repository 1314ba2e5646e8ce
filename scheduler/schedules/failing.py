"""Counts a schedule's failed and missed runs since its last success, and notifies when they are too many.

A guarded statement writes `failing_since` in the transaction that ends a run or decides due times, and its
row count decides about the notification: one for each row of failures, however many processes end runs, and
one when a run has succeeded again. The owner sees the schedule among their alerts; the office that it names
gets an event, for its webhooks and mail.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import F

from jobs import lifecycle as engine
from jobs.access import operated_offices
from jobs.answers import Settlement
from jobs.errors import Invalid
from jobs.ids import parse_uuid
from jobs.models import Office
from jobs.sql import call
from jobs.states import EventType, ExecutionStatus
from scheduler.models import Schedule
from scheduler.sql import statements

LONGEST_ERROR = 2_000


def count_run(end: Settlement) -> None:
    """Called in the transaction that ends an attempt of a scheduled run."""
    schedule = parse_uuid(end.source)
    if schedule is None:
        return
    if end.state == ExecutionStatus.SUCCESS:
        rows = call.rows(statements.RESET_FAILURES, {"schedule": schedule})
        _notify(EventType.SCHEDULE_RECOVERED, [row for row in rows if row[-1]])
    elif end.state == ExecutionStatus.FAILED:
        # Only schedules that notify count.
        notifying = Schedule.objects.filter(pk=schedule, enabled=True, notify_after_failures__isnull=False)
        if notifying.update(consecutive_failures=F("consecutive_failures") + 1):
            details = {"execution_id": end.execution, "error": end.error[:LONGEST_ERROR]}
            notify_failing([schedule], None, details)


def notify_failing(
    schedules: Sequence[UUID], now: datetime | None, details: dict[str, Any] | None = None
) -> None:
    """Notify about those of the schedules whose failed or missed runs have become too many."""
    rows = call.rows(statements.MARK_FAILING, {"schedules": list(schedules), "now": now})
    # The offices are locked in one order.
    _notify(EventType.SCHEDULE_FAILING, sorted(rows, key=lambda row: str(row[4])), details)


def find_of_owner(office_id: UUID | None, owner: User | None) -> Office | None:
    """The office for a schedule of this owner. Raises Invalid if they may not act there."""
    if office_id is None:
        return None
    office = operated_offices(owner).filter(pk=office_id).first() if owner else None
    if office is None:
        raise Invalid(errors={"notify_office": ["unknown_notify_office"]})
    return office


def _notify(event: EventType, rows: Sequence[tuple[Any, ...]], details: dict[str, Any] | None = None) -> None:
    for schedule, name, task_id, owner, office, failures, missed, at in rows:
        # An owner who has left the office does not notify it any more.
        if office is None or not operated_offices(User.objects.get(pk=owner)).filter(pk=office).exists():
            continue
        facts = {"schedule_id": str(schedule), "schedule": name, "task_id": task_id}
        facts |= {"failures": failures, "missed": missed, **(details or {})}
        engine.record_event(office, None, event, facts, at)
