"""Calendars: days and maintenance windows at which schedules skip their runs."""

from collections.abc import Sequence
from datetime import date, datetime
from itertools import islice
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.dateparse import parse_datetime

from jobs import activity, deletions
from jobs.errors import Conflict, FieldErrors, Invalid, InvalidValue
from jobs.models import Deletion
from jobs.states import Act, DeletedKind
from scheduler.models import Calendar, Schedule
from scheduler.schedules import rules
from scheduler.schedules.rules import Rule
from scheduler.schedules.timezones import check_instant, check_zone
from scheduler.schedules.wallclock import wall_time

MAX_ENTRIES = 1_000
# How many due times are read to find those outside of a calendar.
READ_AHEAD = 1_000


class Closures:
    """The days and times of a calendar."""

    def __init__(self, calendar: Calendar) -> None:
        self.name = calendar.name
        self._zone = ZoneInfo(calendar.timezone)
        self._dates = {date.fromisoformat(day) for day in calendar.dates}
        self._windows = [
            (datetime.fromisoformat(each["starts_at"]), datetime.fromisoformat(each["ends_at"]))
            for each in calendar.windows
        ]

    def include(self, moment: datetime) -> bool:
        if wall_time(moment, self._zone).date() in self._dates:
            return True
        return any(start <= moment < end for start, end in self._windows)


def upcoming_times(rule: Rule, calendar: Calendar | None, now: datetime, count: int) -> list[datetime]:
    """Up to `count` due times after `now` that the calendar does not skip."""
    if calendar is None:
        return rules.upcoming_times(rule, now, count)
    closures = Closures(calendar)
    times = islice(rules.times_after(rule, now), READ_AHEAD)
    return list(islice((due for due in times if not closures.include(due)), count))


def next_times(schedule: Schedule, now: datetime, count: int) -> list[datetime]:
    """The next due times of a schedule; one that is paused or has ended has none."""
    if schedule.next_run_at is None:
        return []
    return upcoming_times(schedule.rule, schedule.calendar, now, count)


def create(values: dict[str, Any], *, owner: Any, now: datetime) -> Calendar:
    with transaction.atomic():
        calendar = _write(Calendar(owner=owner, created_at=now), values, now)
        _record(Act.CALENDAR_CREATED, calendar)
    return calendar


def change(calendar_id: UUID, values: dict[str, Any], *, now: datetime) -> Calendar:
    with transaction.atomic():
        calendar = Calendar.objects.select_for_update(no_key=True).get(pk=calendar_id)
        before = activity.values_of(calendar, values)
        _write(calendar, values, now)
        if fields := activity.changed_fields(calendar, before):
            _record(Act.CALENDAR_CHANGED, calendar, fields=fields)
        return calendar


def remove(calendar_id: UUID, *, now: datetime, undo_for: User | None = None) -> Deletion | None:
    """Raises Conflict while a schedule uses the calendar. `undo_for` may restore it."""
    with transaction.atomic():
        # The lock keeps others from choosing the calendar meanwhile.
        calendar = Calendar.objects.select_for_update().filter(pk=calendar_id).first()
        if calendar is None:
            return None
        if count := calendar.schedules.count():
            raise Conflict("calendar_in_use", count=count)
        deletion = deletions.record(DeletedKind.CALENDAR, calendar, undo_for, now) if undo_for else None
        Calendar.objects.filter(pk=calendar.pk).delete()
        _record(Act.CALENDAR_DELETED, calendar)
    return deletion


def restore(deletion: Deletion, *, now: datetime) -> Calendar:
    """Undo a deletion; raises Conflict."""
    with deletions.claim(deletion, now):
        calendar = Calendar(**deletions.values_of(deletion, Calendar))
        calendar.save(force_insert=True)
        _record(Act.CALENDAR_RESTORED, calendar)
    return calendar


def find_of_owner(calendar_id: UUID | None, owner_id: int | None) -> Calendar | None:
    """The calendar for a schedule of this owner. Raises Invalid if it is not theirs."""
    if calendar_id is None:
        return None
    calendar = Calendar.objects.filter(pk=calendar_id, owner_id=owner_id).first()
    if calendar is None:
        raise Invalid(errors={"calendar": ["unknown_calendar"]})
    return calendar


def _record(act: Act, calendar: Calendar, **details: Any) -> None:
    activity.record(act, owner=calendar.owner_id, calendar=calendar.name, **details)


def _write(calendar: Calendar, values: dict[str, Any], now: datetime) -> Calendar:
    errors: FieldErrors = {}
    for field, read in (("dates", _read_dates), ("windows", _read_windows), ("timezone", check_zone)):
        try:
            if field in values:
                values[field] = read(values[field])
        except InvalidValue as invalid:
            errors[field] = [invalid.text]
    if errors:
        raise Invalid(errors=errors)
    for field, value in values.items():
        setattr(calendar, field, value)
    calendar.updated_at = now
    calendar.save()
    return calendar


def _read_dates(texts: Sequence[str]) -> list[str]:
    _check_count(texts)
    try:
        return sorted({date.fromisoformat(text).isoformat() for text in texts})
    except ValueError:
        raise InvalidValue("calendar_date") from None


def _read_windows(windows: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    _check_count(windows)
    read = sorted((_instant(each.get("starts_at")), _instant(each.get("ends_at"))) for each in windows)
    if any(end <= start for start, end in read):
        raise InvalidValue("window_ends_first")
    return [{"starts_at": start.isoformat(), "ends_at": end.isoformat()} for start, end in read]


def _instant(text: str | None) -> datetime:
    try:
        moment = parse_datetime(text or "")
    except ValueError:
        moment = None
    if moment is None:
        raise InvalidValue("time_text")
    return check_instant(moment)


def _check_count(entries: Sequence[object]) -> None:
    if len(entries) > MAX_ENTRIES:
        raise InvalidValue("too_many_entries", limit=MAX_ENTRIES)
