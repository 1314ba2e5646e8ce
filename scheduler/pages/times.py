"""Times by the clock of a schedule's own time zone."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils.dateformat import format as formatted
from django.utils.translation import gettext_lazy as _

from scheduler.schedules.clock_changes import Change, ClockChange

CHANGE_TEXTS = {
    Change.MOVED: _("%(clock)s does not exist: it runs at %(at)s."),
    Change.MISSING: _("%(clock)s does not exist: it does not run."),
    Change.DOUBLED: _("%(clock)s exists twice: it runs both times."),
    Change.ONCE: _("%(clock)s exists twice: it runs the first time only."),
}


@dataclass(frozen=True)
class Moment:
    at: datetime
    there: str
    # The time in the installation's time zone, if that is another one.
    here: str


def moments(times: Iterable[datetime], zone: str) -> list[Moment]:
    abroad = zone != settings.TIME_ZONE
    return [
        Moment(
            at,
            _local_time(at, zone),
            f"{_local_time(at, settings.TIME_ZONE)} {settings.TIME_ZONE}" if abroad else "",
        )
        for at in times
    ]


def change_texts(changes: Iterable[ClockChange], zone: str) -> list[str]:
    """What the jumps of daylight saving time do to a rule, as sentences."""
    return [
        CHANGE_TEXTS[each.change]
        % {
            "clock": formatted(each.clock, "Y-m-d H:i"),
            "at": ", ".join(_local_time(at, zone) for at in each.runs_at),
        }
        for each in changes
    ]


def _local_time(at: datetime, zone: str) -> str:
    return formatted(at.astimezone(ZoneInfo(zone)), "Y-m-d (D) H:i:s")
