"""The numbers of an office's queue: exact, and quick with a million ended jobs behind it."""

import time
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from jobs.sql import call, reports
from jobs.states import JOB_ENDED, JobStatus

RECENT = 1_000
# Of so many ended jobs in one state the count takes a few milliseconds. Beyond, all are counted, which
# takes a tenth of a second for a million, and the number serves this process for a while.
COUNTED_EACH_TIME = 100_000
KEPT_SECONDS = 30.0

_kept: dict[UUID, tuple[float, dict[str, int]]] = {}


def of(office: UUID) -> dict[str, Any]:
    """The seed's JobQueueStats, and `timeout`."""
    counts = {str(status): 0 for status in JobStatus}
    counts.update(call.rows(reports.COUNT_LIVE, {"office": office}))
    counts.update(ended(office))
    ((average,),) = call.rows(reports.AVERAGE_TIME, {"office": office, "recent": RECENT})
    return {"office_id": str(office), **counts, "avg_completion_time": round(average, 1)}


def run_times(office: UUID) -> dict[str, float]:
    """How many seconds a run of each Task took lately, in this office."""
    return dict(call.rows(reports.RUN_TIMES, {"office": office, "recent": RECENT}))


def ended(office: UUID) -> dict[str, int]:
    """How many ended in each way. Exact, and with more than 100,000 in one state up to 30 seconds old."""
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
