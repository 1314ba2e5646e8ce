"""Wall-clock times and real instants, where daylight saving makes them differ.

A time that does not exist becomes the first instant after the gap; one that exists twice is the first
of the two.
"""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

# Longer than any gap or repetition since 1970: Samoa left out a whole day.
LONGEST_SHIFT = timedelta(hours=25)


def wall_time(instant: datetime, zone: ZoneInfo) -> datetime:
    """The local time in `zone` at `instant`, without an offset."""
    return instant.astimezone(zone).replace(tzinfo=None)


def instant_of(wall: datetime, zone: ZoneInfo) -> datetime:
    """The instant that `wall` means."""
    real = instants_of(wall, zone)
    return real[0] if real else _end_of_gap(wall, zone)


def instants_of(wall: datetime, zone: ZoneInfo) -> list[datetime]:
    """Every instant at which the clock really shows `wall`: none in a gap, two where it is set back."""
    first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    candidates = [first] if first == second else [first, second]
    return [instant for instant in candidates if wall_time(instant, zone) == wall]


def repeated_after(instant: datetime, zone: ZoneInfo) -> timedelta:
    """How much of the wall clock that has already been seen will be seen again soon after `instant`."""
    now, later = (offset_at(moment, zone) for moment in (instant, instant + LONGEST_SHIFT))
    return max(now - later, timedelta(0))


def _end_of_gap(wall: datetime, zone: ZoneInfo) -> datetime:
    # In a gap fold=0 reads the offset before it and fold=1 the one after (PEP 495), so the change lies
    # between the two readings.
    before, after = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (1, 0))
    return change_between(before, after, zone)


def change_between(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """The first second with the new offset; halving finds it."""
    offset = offset_at(before, zone)
    while after - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=(after - before) // timedelta(seconds=2))
        if offset_at(middle, zone) == offset:
            before = middle
        else:
            after = middle
    return after


def offset_at(instant: datetime, zone: ZoneInfo) -> timedelta:
    """How far the clock in `zone` is ahead of UTC."""
    offset = instant.astimezone(zone).utcoffset()
    return offset if offset is not None else timedelta(0)
