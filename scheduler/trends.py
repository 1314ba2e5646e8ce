"""Throughput, waits, durations and queue length over a time, in equal steps."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.contrib.auth.models import User

from jobs.access import offices_of
from jobs.sql import call
from scheduler.sql import reports

RANGES = {
    "1h": (timedelta(hours=1), timedelta(minutes=1)),
    "24h": (timedelta(days=1), timedelta(minutes=15)),
    "7d": (timedelta(days=7), timedelta(hours=2)),
}
# How many of the newest jobs of each office and state are counted.
MOST_JOBS = 10_000
MOST_OFFICES = 30


@dataclass(frozen=True)
class Step:
    """The Executions that ended in a step of time; times in milliseconds, None without any."""

    start: datetime
    end: datetime
    done: int = 0
    failed: int = 0
    wait_p50: float | None = None
    wait_p95: float | None = None
    run_p50: float | None = None
    run_p95: float | None = None
    queued: int | None = None


def steps(user: User, span: str, now: datetime, role: str | None = None) -> list[Step]:
    """The steps, oldest first: for staff those of the installation, for others those of the jobs in their
    offices; with a role, those of its Executions only.
    """
    length, step = RANGES[span]
    last = _floor(now, step) + step
    values = {"first": last - length, "step": step, "role": role}
    if user.is_staff:
        rows = call.rows(reports.TRENDS if role is None else reports.TRENDS_OF_ROLE, values)
    else:
        offices = list(offices_of(user).values_list("id", flat=True)[:MOST_OFFICES])
        rows = call.rows(reports.TRENDS_OF_OFFICES, values | {"offices": offices, "most": MOST_JOBS})
    counted = {row[0]: row[1:] for row in rows}
    starts = [last - length + step * number for number in range(length // step)]
    return [Step(start, start + step, *counted.get(start, ())) for start in starts]


def _floor(moment: datetime, step: timedelta) -> datetime:
    epoch = datetime.fromtimestamp(0, UTC)
    return moment - (moment - epoch) % step
