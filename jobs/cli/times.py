"""Times as operators write and read them."""

import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
AGO = re.compile(r"([0-9]{1,6})([smhdw])")
# By how much the clocks of those who made the ids may differ.
CLOCKS_DIFFER = timedelta(hours=1)
MILLISECONDS = 80


def since(now: datetime) -> Callable[[str], datetime]:
    """`2h` before now, or a date, or a date with a time; of this installation's zone where none is given."""

    def parsed(text: str) -> datetime:
        try:
            if found := AGO.fullmatch(text.strip().lower()):
                return now - timedelta(**{UNITS[found[2]]: int(found[1])})
            moment = parse_datetime(text)
            if moment is None and (day := parse_date(text)) is not None:
                moment = datetime(day.year, day.month, day.day)  # noqa: DTZ001 (made aware below)
        except (ValueError, OverflowError):
            moment = None
        if moment is None:
            raise ArgumentTypeError(f"{text!r} is no time: write 30m, 2h, 7d, 2026-12-01 or 2026-12-01T09:00")
        return moment if timezone.is_aware(moment) else timezone.make_aware(moment)

    return parsed


def shown(moment: datetime | None) -> str:
    return "" if moment is None else f"{timezone.localtime(moment):%Y-%m-%d %H:%M:%S}"


def duration(seconds: float | None) -> str:
    """Two figures of it, the larger ones."""
    if seconds is None:
        return ""
    left = max(0, round(seconds))
    if left < 60:
        return f"{left} s"
    for size, unit, part, smaller in (
        (86_400, "d", 3_600, "h"),
        (3_600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if left >= size:
            rest = left % size // part
            return f"{left // size} {unit}" + (f" {rest} {smaller}" if rest else "")
    return ""


def between(start: datetime | None, end: datetime | None) -> str:
    return "" if start is None or end is None else duration((end - start).total_seconds())


def first_id_since(moment: datetime) -> UUID:
    """No row that was made since then has a lower id: they grow with time."""
    started = max(0, int((moment - CLOCKS_DIFFER).timestamp() * 1000))
    return UUID(int=started << MILLISECONDS)
