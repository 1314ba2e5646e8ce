"""The fields of a cron expression: names, ranges, steps, lists, and days by their place in the month."""

from collections.abc import Collection
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from jobs.errors import InvalidValue

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


SECOND = Field("second", _("second"), 0, 59)
FIELDS = (
    Field("minute", _("minute"), 0, 59),
    Field("hour", _("hour"), 0, 23),
    Field("day-of-month", _("day-of-month"), 1, 31),
    Field("month", _("month"), 1, 12, MONTHS),
    Field("day-of-week", _("day-of-week"), 0, 7, DAYS),
)


@dataclass(frozen=True, slots=True)
class Term:
    canonical: str
    values: Collection[int] = ()
    nearest: int = 0
    nth_day: tuple[int, int] | None = None


def read_field(field: Field, word: str) -> list[Term]:
    terms = word.split(",")
    if len(terms) > 1 and "*" in terms:
        raise CronError("cron_star_in_list", field=field.label, word=word)
    read = [_special_term(field, term, word) or _term(field, term, word) for term in terms]
    # cronsim looks for a `*` in the first character only; here its position in the list does not matter.
    return sorted(read, key=lambda term: not term.canonical.startswith("*"))


def _special_term(field: Field, term: str, word: str) -> Term | None:
    """`L`, `LW`, `15W` as days of the month; `FRI#3` and `FRIL`, or `5#3` and `5L`, as days of the week."""
    if field.name == "day-of-month" and term in MONTH_ENDS:
        return Term(term)
    if field.name == "day-of-month" and term.endswith("W") and term != "W":
        day = _number(field, term[:-1], word)
        return Term(f"{day}W", nearest=day)
    if field.names is not DAYS:
        return None
    day_text, sign, number = term.partition("#")
    if sign:
        if number not in ("1", "2", "3", "4", "5"):
            raise CronError("cron_nth", field=field.label, term=term)
        day = _number(field, day_text, word) % 7
        return Term(f"{day}#{number}", nth_day=(day, int(number)))
    if term.endswith("L") and len(term) > 1:
        day = _number(field, term[:-1], word) % 7
        return Term(f"{day}L", nth_day=(day, -1))
    return None


def _term(field: Field, term: str, word: str) -> Term:
    span, slash, step_text = term.partition("/")
    step = _step(field, step_text, term) if slash else 1
    top = 6 if field.name == "day-of-week" else field.high
    if span == "*":
        return Term(term, range(field.low, top + 1, step))
    first_text, dash, last_text = span.partition("-")
    first = _number(field, first_text, word)
    last = _number(field, last_text, word) if dash else max(first, top) if slash else first
    if dash and last_text == "SUN" and field.names is DAYS:
        last = 7  # FRI-SUN is a weekend, not a range that runs backwards
    if last < first:
        raise CronError("cron_backwards", field=field.label, span=span)
    if first == last:
        return Term(str(first), range(first, last + 1))  # cronsim would read 5-5/2 as 5/2, up to the end
    return Term(f"{first}-{last}" + (f"/{step}" if slash else ""), range(first, last + 1, step))


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
