"""Time zones by name, and the times that schedules accept. Times without an offset are Korean time."""

from datetime import UTC, datetime
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from jobs.errors import InvalidValue
from scheduler.schedules.wallclock import instant_of

KOREAN_TIME = "Asia/Seoul"
EARLIEST, LATEST = datetime(1970, 1, 2, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


@cache
def names() -> frozenset[str]:
    """The names of time zones, read from the disk once."""
    return frozenset(available_timezones())


def check_zone(name: str) -> str:
    if name not in names():
        raise InvalidValue("unknown_zone", name=name)
    return name


def check_instant(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        moment = instant_of(moment, ZoneInfo(KOREAN_TIME))
    if not EARLIEST <= moment <= LATEST:
        raise InvalidValue("time_in_reach")
    return moment
