"""Cron expressions: parsing, validation and the next time.

Five fields, or six with the seconds first, with names, ranges, steps and lists, or `@daily` and its like.
cronsim does the calendar; the nearest weekday (`15W`) and the daylight-saving rules are ours:

- A rule with no `*` in its second, minute and hour names fixed times. One that does not exist on a day runs
  at the first instant after the gap; one that exists twice runs once, the first time.
- A rule with a `*` there runs in elapsed time: at every instant whose wall clock matches.

Where both day-of-month and day-of-week are given, either is enough; where one has a `*`, both count.
That is how cron has always read them.

`L` is the last day of the month and `LW` its last day from Monday to Friday; `15W` is the day from Monday to
Friday that is nearest to the 15th, in the same month; `FRI#3` is its third Friday and `FRIL` its last.
"""

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from scheduler.schedules.cron_fields import (
    DAYS,
    FIELDS,
    LAST_DAY,
    MONTH_ENDS,
    SECOND,
    CronError,
    read_field,
)
from scheduler.schedules.wallclock import (
    LONGEST_SHIFT,
    instant_of,
    instants_of,
    offset_at,
    repeated_after,
    wall_time,
)

MAX_LENGTH = 128
HORIZON = timedelta(days=5 * 366)

SHORT_FORMS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


@dataclass(frozen=True, slots=True)
class Cron:
    text: str  # as written
    canonical: str  # the same in numbers
    values: tuple[frozenset[int], ...]  # what each of the five fields allows; Sunday is 0
    stars: tuple[bool, ...]  # which of them are written with a `*`
    seconds: frozenset[int] = frozenset({0})
    is_fixed: bool = True  # whether it names times of the day rather than an interval
    month_ends: frozenset[str] = frozenset()  # LAST_DAY, LAST_WEEKDAY
    nearest_weekdays: frozenset[int] = frozenset()  # the days of the month that are written with a `W`
    # A weekday, and which one of the month; -1 is the last.
    nth_days: frozenset[tuple[int, int]] = frozenset()


@lru_cache(maxsize=4096)
def parse(text: str) -> Cron:
    """Parse an expression; CronError names the wrong field."""
    if len(text) > MAX_LENGTH:
        raise CronError("cron_too_long", count=len(text), limit=MAX_LENGTH)
    words = _expand(text).upper().split()
    seconds = [read_field(SECOND, words.pop(0))] if len(words) == len(FIELDS) + 1 else []
    if len(words) != len(FIELDS):
        raise CronError("cron_fields", count=len(words))
    fields = [read_field(field, word) for field, word in zip(FIELDS, words, strict=True)]
    canonical = [",".join(term.canonical for term in terms) for terms in [*seconds, *fields]]
    timing, stars = (
        canonical[: len(seconds) + 2],
        [word.startswith("*") for word in canonical[-len(FIELDS) :]],
    )
    return Cron(
        text=text.strip(),
        canonical=" ".join(canonical),
        seconds=frozenset(value for term in seconds[0] for value in term.values)
        if seconds
        else frozenset({0}),
        is_fixed=not any(word.startswith("*") for word in timing),
        values=tuple(
            frozenset(value % 7 if field.names is DAYS else value for term in terms for value in term.values)
            for field, terms in zip(FIELDS, fields, strict=True)
        ),
        stars=tuple(stars),
        month_ends=frozenset(term.canonical for term in fields[2] if term.canonical in MONTH_ENDS),
        nearest_weekdays=frozenset(term.nearest for term in fields[2] if term.nearest),
        nth_days=frozenset(term.nth_day for term in fields[4] if term.nth_day is not None),
    )


def validate(text: str, zone: ZoneInfo, now: datetime) -> Cron:
    """Parse an expression that must fire within five years of `now`."""
    cron = parse(text)
    first = next_after(cron, now, zone)
    if first is None or first > now + HORIZON:
        days = " ".join(cron.canonical.split()[-3:])
        raise CronError("cron_never", days=days)
    return cron


# Many schedules have the same rule: thousands that fire at midnight compute the same next time.
@lru_cache(maxsize=4096)
def next_after(cron: Cron, instant: datetime, zone: ZoneInfo) -> datetime | None:
    """The first time it fires after `instant`, in UTC; None when there is none within 50 years."""
    if cron.is_fixed:
        due = (instant_of(wall, zone) for wall in wall_times(cron, wall_time(instant, zone)))
        return next((moment for moment in due if moment > instant), None)
    return min(_in_elapsed_time(cron, instant, zone), default=None)


def _in_elapsed_time(cron: Cron, instant: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    here = wall_time(instant, zone)
    # The part of the wall clock that will repeat because the clock is about to be set back.
    again = repeated_after(instant, zone)
    if again and (soon := _next_before_clock_change(cron, instant, zone)):
        yield soon
        return
    for wall in wall_times(cron, here - again - timedelta(seconds=1) if again else here):
        real = [moment for moment in instants_of(wall, zone) if moment > instant]
        yield from real
        if real and wall > here:
            return


def _next_before_clock_change(cron: Cron, instant: datetime, zone: ZoneInfo) -> datetime | None:
    """Its next time, if the clock is set back after it only: a rule with seconds has thousands to repeat."""
    wall = next(wall_times(cron, wall_time(instant, zone)), None)
    moments = [moment for moment in instants_of(wall, zone) if moment > instant] if wall else []
    if not moments or moments[0] > instant + LONGEST_SHIFT:
        return None
    return moments[0] if offset_at(moments[0], zone) == offset_at(instant, zone) else None


def wall_times(cron: Cron, start: datetime) -> Iterator[datetime]:
    """The local times after `start`."""
    # Without a time zone, cronsim computes the calendar only.
    try:
        return iter(_Walls(cron, start))
    except CronSimError:
        return iter(())  # the only error left: a day that none of the months has


class _Walls(CronSim):
    """cronsim with the nearest weekdays, which it does not know."""

    def __init__(self, cron: Cron, start: datetime) -> None:
        self.nearest_weekdays = cron.nearest_weekdays
        words = cron.canonical.split()
        terms = [term for term in words[-3].split(",") if not term.endswith("W") or term in MONTH_ENDS]
        # cronsim needs a day; this one is taken out again.
        words[-3] = ",".join(terms) or LAST_DAY
        super().__init__(" ".join(words), start)
        if not terms:
            self.days = set()

    def match_dom(self, d: date) -> bool:
        return super().match_dom(d) or any(d == nearest_weekday(d, day) for day in self.nearest_weekdays)


def nearest_weekday(month: date, day: int) -> date | None:
    """The day from Monday to Friday nearest to this day of the month; None if the month does not have it."""
    last = monthrange(month.year, month.month)[1]
    if day > last:
        return None
    exact = date(month.year, month.month, day)
    if exact.weekday() == 5:
        return exact + timedelta(days=-1 if day > 1 else 2)
    if exact.weekday() == 6:
        return exact + timedelta(days=1 if day < last else -2)
    return exact


def _expand(text: str) -> str:
    word = text.strip()
    if not word.startswith("@"):
        return word
    if word.lower() not in SHORT_FORMS:
        raise CronError("cron_short_form", word=word, allowed=", ".join(SHORT_FORMS))
    return SHORT_FORMS[word.lower()]
