"""Cron expressions: what they say, why one is refused, and when they fire next.

Five fields, with names, ranges, steps and lists, or `@daily` and its like. cronsim does the calendar;
the daylight-saving rules are ours:

- A rule with no `*` in its minute and hour names fixed times. One that does not exist on a day runs at
  the first instant after the gap; one that exists twice runs once, the first time.
- A rule with a `*` there runs in elapsed time: at every instant whose wall clock matches.

Where both day-of-month and day-of-week are given, either is enough; where one has a `*`, both count.
That is how cron has always read them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from scheduler.schedules.wallclock import instant_of, instants_of, repeated_after, wall_of

LONGEST = 128
HORIZON = timedelta(days=5 * 366)

NICKNAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


class CronError(ValueError):
    """The cron expression is refused; the message says which field and why."""


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()


FIELDS = (
    Field("minute", 0, 59),
    Field("hour", 0, 23),
    Field("day-of-month", 1, 31),
    Field("month", 1, 12, MONTHS),
    Field("day-of-week", 0, 7, DAYS),
)
FIELD_NAMES = " ".join(field.name for field in FIELDS)


@dataclass(frozen=True, slots=True)
class Cron:
    text: str  # as written
    canonical: str  # the same in the form that cronsim reads as we mean it
    values: tuple[frozenset[int], ...]  # what each field allows; Sunday is 0
    stars: tuple[bool, ...]  # which fields are written with a `*`

    @property
    def fixed(self) -> bool:
        """Whether it names times of the day, rather than a rhythm."""
        return not self.stars[0] and not self.stars[1]


@lru_cache(maxsize=4096)
def parse(text: str) -> Cron:
    """Read an expression, or say which field is wrong and why."""
    if len(text) > LONGEST:
        raise CronError(f"The expression has {len(text)} characters; at most {LONGEST} are allowed.")
    words = _expand(text).upper().split()
    if len(words) in (6, 7):
        raise CronError(
            f"The expression has {len(words)} fields; five are expected: {FIELD_NAMES}. A field of seconds "
            "would fire more often than once a minute; an interval rule (every_seconds) can."
        )
    if len(words) != len(FIELDS):
        raise CronError(f"The expression has {len(words)} fields; five are expected: {FIELD_NAMES}.")
    parts = [_field(field, word) for field, word in zip(FIELDS, words, strict=True)]
    return Cron(
        text=text.strip(),
        canonical=" ".join(canonical for canonical, _ in parts),
        values=tuple(values for _, values in parts),
        stars=tuple(canonical.startswith("*") for canonical, _ in parts),
    )


def validate(text: str, zone: ZoneInfo, now: datetime) -> Cron:
    """Read an expression and refuse one that does not fire within five years of `now`."""
    cron = parse(text)
    first = next_after(cron, now, zone)
    if first is None or first > now + HORIZON:
        days = " ".join(cron.canonical.split()[2:])
        raise CronError(
            f"day-of-month, month and day-of-week: no day fits '{days}' within the next 5 years, "
            "so it would never fire."
        )
    return cron


def next_after(cron: Cron, instant: datetime, zone: ZoneInfo) -> datetime | None:
    """The first time it fires after `instant`, in UTC; None when there is none within 50 years."""
    if cron.fixed:
        due = (instant_of(wall, zone) for wall in _walls(cron, wall_of(instant, zone)))
        return next((moment for moment in due if moment > instant), None)
    return min(_in_elapsed_time(cron, instant, zone), default=None)


def _in_elapsed_time(cron: Cron, instant: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    here = wall_of(instant, zone)
    # What has been seen of the wall clock and will be seen again, because it is about to be set back.
    again = repeated_after(instant, zone)
    walls = _walls(cron, here - again - timedelta(seconds=1)) if again else _walls(cron, here)
    for wall in walls:
        real = [moment for moment in instants_of(wall, zone) if moment > instant]
        yield from real
        if real and wall > here:
            return


def _walls(cron: Cron, start: datetime) -> Iterator[datetime]:
    # Given a time without a zone, cronsim does the calendar only.
    try:
        return iter(CronSim(cron.canonical, start))
    except CronSimError:
        return iter(())  # the one thing it still refuses: a day that none of the months has


def _expand(text: str) -> str:
    word = text.strip()
    if not word.startswith("@"):
        return word
    if word.lower() not in NICKNAMES:
        raise CronError(f"'{word}' is not known; the short forms are {', '.join(NICKNAMES)}.")
    return NICKNAMES[word.lower()]


def _field(field: Field, word: str) -> tuple[str, frozenset[int]]:
    terms = word.split(",")
    if len(terms) > 1 and "*" in terms:
        raise CronError(f"{field.name}: '*' in the list '{word}' already means every value.")
    read = [_term(field, term, word) for term in terms]
    # cronsim looks at the first character of a field for a `*`; its place in a list shall not matter.
    read.sort(key=lambda part: not part[0].startswith("*"))
    values = frozenset(value for _, values in read for value in values)
    if field.name == "day-of-week":
        values = frozenset(value % 7 for value in values)
    return ",".join(canonical for canonical, _ in read), values


def _term(field: Field, term: str, word: str) -> tuple[str, range]:
    span, slash, step_text = term.partition("/")
    step = _step(field, step_text, term) if slash else 1
    top = 6 if field.name == "day-of-week" else field.high
    if span == "*":
        return term, range(field.low, top + 1, step)
    first_text, dash, last_text = span.partition("-")
    first = _number(field, first_text, word)
    last = _number(field, last_text, word) if dash else max(first, top) if slash else first
    if dash and last_text == "SUN" and field.names is DAYS:
        last = 7  # FRI-SUN is a weekend, not a range that runs backwards
    if last < first:
        raise CronError(f"{field.name}: the range '{span}' runs backwards; write it as two in a list.")
    if first == last:
        return str(first), range(first, last + 1)  # cronsim would read 5-5/2 as 5/2, up to the end
    return f"{first}-{last}" + (f"/{step}" if slash else ""), range(first, last + 1, step)


def _step(field: Field, text: str, term: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise CronError(f"{field.name}: '{term}' has no whole number after the '/'.")
    step, most = int(text), field.high - field.low + (field.name != "day-of-week")
    if not 1 <= step <= most:
        raise CronError(f"{field.name}: the step {text} in '{term}' is not between 1 and {most}.")
    return step


def _number(field: Field, text: str, word: str) -> int:
    if text in field.names:
        return field.names.index(text) + field.low
    allowed = f"allowed: {field.low}-{field.high}"
    if field.names:
        allowed += f" or {field.names[0]}-{field.names[-1]}"
    if not (text.isascii() and text.isdigit()):
        what = f"'{text}' in '{word}'" if text and text != word else f"'{word}'"
        raise CronError(f"{field.name}: {what} is not understood; {allowed}.")
    number = int(text)
    if not field.low <= number <= field.high:
        raise CronError(f"{field.name}: {text} is out of range; {allowed}.")
    return number
