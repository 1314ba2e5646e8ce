"""Rules in the reader's language, and moments by the clock of a rule's own time zone."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils.dateformat import format as formatted
from django.utils.translation import get_language

from scheduler.workflows.recurrence import Recurring, ScheduleConfig, next_time

# Where a time zone is asked for; any other name is taken as well.
COMMON_ZONES = (
    *("Asia/Seoul", "UTC", "Asia/Tokyo", "Asia/Shanghai", "Asia/Singapore", "Asia/Kolkata"),
    *("Australia/Sydney", "Europe/London", "Europe/Paris", "Europe/Berlin"),
    *("America/New_York", "America/Chicago", "America/Los_Angeles"),
)


@dataclass(frozen=True)
class Moment:
    at: datetime
    there: str
    # By the clock of these pages, where that is another one.
    here: str


def language() -> str:
    return "ko" if (get_language() or "ko").startswith("ko") else "en"


def moments(found: Iterable[datetime], zone: str) -> list[Moment]:
    abroad = zone != settings.TIME_ZONE
    return [
        Moment(at, _by(at, zone), f"{_by(at, settings.TIME_ZONE)} {settings.TIME_ZONE}" if abroad else "")
        for at in found
    ]


def _by(at: datetime, zone: str) -> str:
    return formatted(at.astimezone(ZoneInfo(zone)), "Y-m-d (D) H:i:s")


def next_runs(config: ScheduleConfig, now: datetime, count: int) -> list[datetime]:
    """When a workflow that is activated `now` runs, up to `count` times."""
    found: list[datetime] = []
    at = next_time(config, now, now if isinstance(config, Recurring) else None)
    while at is not None and len(found) < count:
        found.append(at)
        at = next_time(config, now, at)
    return found
