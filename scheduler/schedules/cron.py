"""Cron expressions: parsing, validation and the next time.

Five fields, with names, ranges, steps and lists, or `@daily` and its like. cronsim does the calendar;
the daylight-saving rules are ours:

- A rule with no `*` in its minute and hour names fixed times. One that does not exist on a day runs at
  the first instant after the gap; one that exists twice runs once, the first time.
- A rule with a `*` there runs in elapsed time: at every instant whose wall clock matches.

Where both day-of-month and day-of-week are given, either is enough; where one has a `*`, both count.
That is how cron has always read them.

`L` is the last day of the month and `LW` its last day from Monday to Friday; `FRI#3` is its third Friday
and `FRIL` its last.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from jobs.errors import InvalidValue
from scheduler.schedules.wallclock import instant_of, instants_of, repeated_after, wall_of

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
LAST_DAY, LAST_WEEKDAY = "L", "LW"
MONTH_ENDS = (LAST_DAY, LAST_WEEKDAY)
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


class CronError(InvalidValue):
    """The cron expression is not valid; the text names the field and the reason."""


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    label: Promise
    low: int
    high: int
    names: tuple[str, ...] = ()


FIELDS = (
    Field("minute", _("minute"), 0, 59),
    Field("hour", _("hour"), 0, 23),
    Field("day-of-month", _("day-of-month"), 1, 31),
    Field("month", _("month"), 1, 12, MONTHS),
    Field("day-of-week", _("day-of-week"), 0, 7, DAYS),
)


@dataclass(frozen=True, slots=True)
class Cron:
    text: str  # as written
    canonical: str  # the same for cronsim
    values: tuple[frozenset[int], ...]  # what each field allows; Sunday is 0
    stars: tuple[bool, ...]  # which fields are written with a `*`
    month_ends: frozenset[str] = frozenset()  # LAST_DAY, LAST_WEEKDAY
    nth_days: frozenset[tuple[int, int]] = (
        frozenset()
    )  # a weekday, and which one of the month; -1 is the last

    @property
    def fixed(self) -> bool:
        """Whether the expression names times of the day rather than an interval."""
        return not self.stars[0] and not self.stars[1]


@lru_cache(maxsize=4096)
def parse(text: str) -> Cron:
    """Parse an expression; CronError names the wrong field."""
    if len(text) > MAX_LENGTH:
        raise CronError("cron_too_long", count=len(text), limit=MAX_LENGTH)
    words = _expand(text).upper().split()
    if len(words) in (6, 7):
        raise CronError("cron_seconds", count=len(words))
    if len(words) != len(FIELDS):
        raise CronError("cron_fields", count=len(words))
    fields = [_field(field, word) for field, word in zip(FIELDS, words, strict=True)]
    canonical = [",".join(term.canonical for term in terms) for terms in fields]
    return Cron(
        text=text.strip(),
        canonical=" ".join(canonical),
        values=tuple(
            frozenset(value % 7 if field.names is DAYS else value for term in terms for value in term.values)
            for field, terms in zip(FIELDS, fields, strict=True)
        ),
        stars=tuple(word.startswith("*") for word in canonical),
        month_ends=frozenset(term.canonical for term in fields[2] if term.canonical in MONTH_ENDS),
        nth_days=frozenset(term.nth_day for term in fields[4] if term.nth_day is not None),
    )


def validate(text: str, zone: ZoneInfo, now: datetime) -> Cron:
    """Parse an expression that must fire within five years of `now`."""
    cron = parse(text)
    first = next_after(cron, now, zone)
    if first is None or first > now + HORIZON:
        days = " ".join(cron.canonical.split()[2:])
        raise CronError("cron_never", days=days)
    return cron


# Many schedules have the same rule: thousands that fire at midnight compute the same next time.
@lru_cache(maxsize=4096)
def next_after(cron: Cron, instant: datetime, zone: ZoneInfo) -> datetime | None:
    """The first time it fires after `instant`, in UTC; None when there is none within 50 years."""
    if cron.fixed:
        due = (instant_of(wall, zone) for wall in walls(cron, wall_of(instant, zone)))
        return next((moment for moment in due if moment > instant), None)
    return min(_in_elapsed_time(cron, instant, zone), default=None)


def _in_elapsed_time(cron: Cron, instant: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    here = wall_of(instant, zone)
    # The part of the wall clock that will repeat because the clock is about to be set back.
    again = repeated_after(instant, zone)
    for wall in walls(cron, here - again - timedelta(seconds=1) if again else here):
        real = [moment for moment in instants_of(wall, zone) if moment > instant]
        yield from real
        if real and wall > here:
            return


def walls(cron: Cron, start: datetime) -> Iterator[datetime]:
    """The local times after `start`."""
    # Without a time zone, cronsim computes the calendar only.
    try:
        return iter(CronSim(cron.canonical, start))
    except CronSimError:
        return iter(())  # the only error left: a day that none of the months has


def _expand(text: str) -> str:
    word = text.strip()
    if not word.startswith("@"):
        return word
    if word.lower() not in SHORT_FORMS:
        raise CronError("cron_short_form", word=word, allowed=", ".join(SHORT_FORMS))
    return SHORT_FORMS[word.lower()]


@dataclass(frozen=True, slots=True)
class _Term:
    canonical: str
    values: Collection[int] = ()
    nth_day: tuple[int, int] | None = None


def _field(field: Field, word: str) -> list[_Term]:
    terms = word.split(",")
    if len(terms) > 1 and "*" in terms:
        raise CronError("cron_star_in_list", field=field.label, word=word)
    read = [_special_term(field, term, word) or _term(field, term, word) for term in terms]
    # cronsim looks for a `*` in the first character only; here its position in the list does not matter.
    return sorted(read, key=lambda term: not term.canonical.startswith("*"))


def _special_term(field: Field, term: str, word: str) -> _Term | None:
    """`L` and `LW` as days of the month; `FRI#3` and `FRIL`, or `5#3` and `5L`, as days of the week."""
    if field.name == "day-of-month" and term in MONTH_ENDS:
        return _Term(term)
    if field.names is not DAYS:
        return None
    day_text, sign, number = term.partition("#")
    if sign:
        if number not in ("1", "2", "3", "4", "5"):
            raise CronError("cron_nth", field=field.label, term=term)
        day = _number(field, day_text, word) % 7
        return _Term(f"{day}#{number}", nth_day=(day, int(number)))
    if term.endswith("L") and len(term) > 1:
        day = _number(field, term[:-1], word) % 7
        return _Term(f"{day}L", nth_day=(day, -1))
    return None


def _term(field: Field, term: str, word: str) -> _Term:
    span, slash, step_text = term.partition("/")
    step = _step(field, step_text, term) if slash else 1
    top = 6 if field.name == "day-of-week" else field.high
    if span == "*":
        return _Term(term, range(field.low, top + 1, step))
    first_text, dash, last_text = span.partition("-")
    first = _number(field, first_text, word)
    last = _number(field, last_text, word) if dash else max(first, top) if slash else first
    if dash and last_text == "SUN" and field.names is DAYS:
        last = 7  # FRI-SUN is a weekend, not a range that runs backwards
    if last < first:
        raise CronError("cron_backwards", field=field.label, span=span)
    if first == last:
        return _Term(str(first), range(first, last + 1))  # cronsim would read 5-5/2 as 5/2, up to the end
    return _Term(f"{first}-{last}" + (f"/{step}" if slash else ""), range(first, last + 1, step))


def _step(field: Field, text: str, term: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise CronError("cron_step", field=field.label, term=term)
    step, most = int(text), field.high - field.low + (field.name != "day-of-week")
    if not 1 <= step <= most:
        raise CronError("cron_step_range", field=field.label, step=text, term=term, limit=most)
    return step


def _number(field: Field, text: str, word: str) -> int:
    if text in field.names:
        return field.names.index(text) + field.low
    allowed = f"{field.low}-{field.high}"
    if field.names:
        allowed += f" or {field.names[0]}-{field.names[-1]}"
    if not (text.isascii() and text.isdigit()):
        if text and text != word:
            raise CronError("cron_value_in", field=field.label, text=text, word=word, allowed=allowed)
        raise CronError("cron_value", field=field.label, word=word, allowed=allowed)
    number = int(text)
    if not field.low <= number <= field.high:
        raise CronError("cron_range", field=field.label, number=text, allowed=allowed)
    return number
