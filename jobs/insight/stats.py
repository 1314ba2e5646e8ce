"""How many jobs an office has in each state: exact, and quick with a million ended jobs."""

import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from jobs.models import Execution
from jobs.sql import call, reports
from jobs.states import JOB_ENDED, JobStatus

RECENT = 1_000
RECENT_OF_EACH = 200
# A run is slow when it takes so many times its usual time, and so long that people wait for it.
SLOW_TIMES, SLOW_SECONDS = 2.0, 10.0
DAY = timedelta(days=1)
# Counting this many ended jobs of one state takes a few milliseconds. If there are more, all are counted,
# which takes a tenth of a second for a million, and this process keeps the number for a while.
COUNTED_EACH_TIME = 100_000
KEPT_SECONDS = 30.0

_kept: dict[UUID, tuple[float, dict[str, int]]] = {}


def of(office: UUID) -> dict[str, Any]:
    """The JobQueueStats of the first API contract, and `timeout`."""
    counts = {str(status): 0 for status in JobStatus}
    counts.update(call.rows(reports.COUNT_LIVE, {"office": office}))
    counts.update(ended_counts(office))
    ((average,),) = call.rows(reports.AVERAGE_TIME, {"office": office, "recent": RECENT})
    return {"office_id": str(office), **counts, "avg_completion_time": round(average, 1)}


def run_times(office: UUID) -> dict[str, float]:
    """The usual seconds of a run of each Task, from the office's recent jobs."""
    return dict(call.rows(reports.RUN_TIMES, {"office": office, "recent": RECENT}))


def usual_times_of_slow(runs: Collection[Execution], now: datetime) -> dict[UUID, float]:
    """The usual seconds of those jobs' runs that take much longer. One query at most."""
    seconds = {
        run: (now - run.attempt_started_at).total_seconds()
        for run in runs
        if run.office_id is not None and run.attempt_started_at is not None
    }
    long = {run: elapsed for run, elapsed in seconds.items() if elapsed >= SLOW_SECONDS}
    if not long:
        return {}
    values = {"offices": list({str(run.office_id) for run in long}), "recent": RECENT_OF_EACH}
    rows = call.rows(reports.RUN_TIMES_OF_OFFICES, values)
    usual = {(str(office), task): average for office, task, average in rows}
    averages = {run: usual.get((str(run.office_id), run.task_id)) for run in long}
    return {
        run.id: average
        for run, average in averages.items()
        if average is not None and long[run] >= SLOW_TIMES * average
    }


def ended_counts(office: UUID) -> dict[str, int]:
    """How many jobs ended in each state; with more than 100,000 in one, up to 30 seconds old."""
    kept = _kept.get(office)
    if kept is not None and time.monotonic() - kept[0] < KEPT_SECONDS:
        return kept[1]
    states = [str(status) for status in JOB_ENDED]
    values = {"office": office, "ended": states, "most": COUNTED_EACH_TIME + 1}
    counts = dict(call.rows(reports.COUNT_ENDED, values))
    if max(counts.values()) <= COUNTED_EACH_TIME:
        _kept.pop(office, None)
        return counts
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(reports.BY_INDEX_ONLY)
        counts = dict.fromkeys(states, 0) | dict(call.rows(reports.COUNT_ALL_ENDED, values))
    _kept[office] = (time.monotonic(), counts)
    return counts


@dataclass
class OfficeCounts:
    """Jobs that have not ended, and those that ended within a day."""

    waiting: int = 0
    running: int = 0
    done: int = 0
    failed: int = 0


def office_counts(offices: Collection[UUID], now: datetime | None = None) -> dict[UUID, OfficeCounts]:
    counts = {office: OfficeCounts() for office in offices}
    values = {"offices": list(counts), "since": (now or timezone.now()) - DAY}
    for office, *numbers in call.rows(reports.COUNTS_OF_OFFICES, values) if counts else ():
        counts[office] = OfficeCounts(*numbers)
    return counts


def live_counts() -> OfficeCounts:
    """The jobs of all offices that have not ended."""
    ((waiting, running),) = call.rows(reports.COUNTS_OF_LIVE)
    return OfficeCounts(waiting, running)
