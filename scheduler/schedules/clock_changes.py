"""What the next jumps of daylight saving time do to a rule: which of its times are moved, missing or doubled.

- moved: the clock skips the time; it runs at the first instant after the gap.
- missing: the clock skips the time; it does not run.
- doubled: the clock shows the time twice; it runs both times.
- once: the clock shows the time twice; it runs the first time only.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

from scheduler.schedules import cron
from scheduler.schedules.rules import Kind, Rule
from scheduler.schedules.wallclock import change_between, instant_of, instants_of, offset_at, wall_time
from scheduler.workflows.recurrence import Recurring, ScheduleConfig, wall_times

HORIZON = timedelta(days=366)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
# The most times of one jump that are listed: a rule for every minute has sixty.
LISTED = 5


class Change(StrEnum):
    MOVED = "moved"
    MISSING = "missing"
    DOUBLED = "doubled"
    ONCE = "once"


@dataclass(frozen=True, slots=True)
class ClockChange:
    """`clock` is the local time by the rule; `runs_at` when it runs, which is never, once or twice."""

    change: Change
    clock: datetime
    runs_at: tuple[datetime, ...]


def of_rule(rule: Rule, now: datetime) -> list[ClockChange]:
    """Those within a year after `now`, soonest first. Intervals and single times are not affected."""
    if rule.kind != Kind.CRON:
        return []
    parsed = cron.parse(rule.cron)
    start = max(now, rule.starts_at or now)
    changes = []
    end = start + HORIZON if rule.ends_at is None else min(start + HORIZON, rule.ends_at)
    for jump in _jumps(rule.zone, start, end):
        walls = takewhile(jump.is_before_end, cron.wall_times(parsed, jump.wall_start - SECOND))
        changes += [
            _change(wall, rule.zone, jump, is_fixed=parsed.is_fixed) for wall in islice(walls, LISTED)
        ]
    return changes


def of_config(config: ScheduleConfig, now: datetime) -> list[ClockChange]:
    """The same for a workflow's schedule_config, which names fixed times."""
    if not isinstance(config, Recurring):
        return []
    zone = ZoneInfo(config.timezone)
    changes = []
    for jump in _jumps(zone, now, now + HORIZON):
        day = jump.wall_start.date()
        while day <= jump.wall_end.date():
            walls = wall_times(config, day) if config.runs_on(day) else ()
            jumped = (wall for wall in walls if jump.wall_start <= wall and jump.is_before_end(wall))
            changes += [_change(wall, zone, jump, is_fixed=True) for wall in jumped]
            day += DAY
    return changes


@dataclass(frozen=True, slots=True)
class _Jump:
    """The local times that the clock skips, or shows twice."""

    wall_start: datetime
    wall_end: datetime
    is_gap: bool

    def is_before_end(self, wall: datetime) -> bool:
        return wall < self.wall_end


def _change(wall: datetime, zone: ZoneInfo, jump: _Jump, *, is_fixed: bool) -> ClockChange:
    if jump.is_gap:
        if is_fixed:
            return ClockChange(Change.MOVED, wall, (instant_of(wall, zone),))
        return ClockChange(Change.MISSING, wall, ())
    if is_fixed:
        return ClockChange(Change.ONCE, wall, (instant_of(wall, zone),))
    return ClockChange(Change.DOUBLED, wall, tuple(instants_of(wall, zone)))


def _jumps(zone: ZoneInfo, start: datetime, end: datetime) -> Iterator[_Jump]:
    moment = start.astimezone(UTC)
    while moment < end:
        later = moment + DAY
        if offset_at(moment, zone) != offset_at(later, zone):
            yield _jump_between(zone, moment, later)
        moment = later


def _jump_between(zone: ZoneInfo, before: datetime, after: datetime) -> _Jump:
    change = change_between(before, after, zone)
    old = (change + offset_at(before, zone)).replace(tzinfo=None)
    new = wall_time(change, zone)
    return _Jump(min(old, new), max(old, new), is_gap=new > old)
