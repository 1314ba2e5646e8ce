"""Deletes rows that ended long ago, of jobs, Executions, events and repeated answers. Live work is kept."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from jobs import activity
from jobs.models import IdempotentAnswer, Office
from jobs.notifications import creation
from jobs.sql import call, retention
from jobs.states import JOB_ENDED

# How long an answer is repeated for its Idempotency-Key.
ANSWERS_KEPT = timedelta(hours=24)


def delete_old(before: datetime, now: datetime, *, until: float, batch: int) -> dict[str, int]:
    """Delete batch by batch until no row is left or the monotonic clock reaches `until`; return counts."""
    values = {"before": before, "limit": batch}
    jobs = sum(
        delete_batches(retention.DELETE_JOBS, {**values, "office": office, "status": status}, until)
        for office in Office.objects.values_list("id", flat=True)
        for status in JOB_ENDED
    )
    return {
        "jobs": jobs,
        "batches": delete_batches(retention.DELETE_BATCHES, values, until),
        "executions": delete_batches(retention.DELETE_EXECUTIONS, values, until),
        "events": delete_batches(retention.DELETE_EVENTS, values, until),
        "notices": repeat(lambda: creation.delete_old(before, batch), batch, until),
        "activity": repeat(lambda: activity.delete_old(before, batch), batch, until),
        "offers": delete_batches(retention.DELETE_OFFERS, values, until),
        "entries": delete_batches(retention.DELETE_ENTRIES, values, until),
        "answers": repeat(lambda: delete_old_answers(now, batch), batch, until),
    }


def delete_batches(statement: str, values: dict[str, Any], until: float) -> int:
    return repeat(lambda: call.change(statement, values), values["limit"], until)


def repeat(delete: Callable[[], int], batch: int, until: float) -> int:
    """Delete until a batch is not full or the time is over; return the number of rows."""
    total, deleted = 0, batch
    while deleted >= batch and time.monotonic() < until:
        deleted = delete()
        total += deleted
    return total


def delete_old_answers(now: datetime, limit: int) -> int:
    """Delete at most `limit` answers older than a day; return the number deleted."""
    old = IdempotentAnswer.objects.filter(created_at__lt=now - ANSWERS_KEPT).order_by("created_at")
    deleted, _ = IdempotentAnswer.objects.filter(
        pk__in=list(old.values_list("pk", flat=True)[:limit])
    ).delete()
    return deleted
