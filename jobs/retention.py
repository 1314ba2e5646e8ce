"""Deletes what the engine keeps of work that ended long ago. What has not ended is never touched."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from jobs.api.framework import idempotency
from jobs.models import Office
from jobs.notifications import creation
from jobs.sql import call, retention
from jobs.states import JOB_ENDED


def delete_old(before: datetime, now: datetime, *, until: float, batch: int) -> dict[str, int]:
    """Batch by batch, until nothing is left or the monotonic clock says `until`; how many of each."""
    values = {"before": before, "limit": batch}
    jobs = sum(
        all_of(retention.DELETE_JOBS, {**values, "office": office, "status": status}, until)
        for office in Office.objects.values_list("id", flat=True)
        for status in JOB_ENDED
    )
    return {
        "jobs": jobs,
        "batches": all_of(retention.DELETE_BATCHES, values, until),
        "executions": all_of(retention.DELETE_EXECUTIONS, values, until),
        "events": all_of(retention.DELETE_EVENTS, values, until),
        "notices": repeated(lambda: creation.delete_old(before, batch), batch, until),
        "answers": repeated(lambda: idempotency.delete_old_answers(now, batch), batch, until),
    }


def all_of(statement: str, values: dict[str, Any], until: float) -> int:
    return repeated(lambda: call.change(statement, values), values["limit"], until)


def repeated(delete: Callable[[], int], batch: int, until: float) -> int:
    """A full batch means that there may be more."""
    total, found = 0, batch
    while found >= batch and time.monotonic() < until:
        found = delete()
        total += found
    return total
