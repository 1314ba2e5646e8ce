"""Deletes what ended longer ago than DURE_RETENTION_DAYS, in batches, so that no table grows for ever.

Executions with their attempts, the record of schedules' turns, workflows' ended runs, counted minutes,
and answers kept for repeated requests. What has not ended is never touched.
"""

import logging
import time
from datetime import datetime, timedelta

from django.conf import settings

from jobs.rest import idempotency
from jobs.sql import call
from scheduler import sql

log = logging.getLogger(__name__)

BATCH = 5_000
STATEMENTS = {
    "executions": sql.DELETE_EXECUTIONS,
    "occurrences": sql.DELETE_OCCURRENCES,
    "runs": sql.DELETE_RUNS,
    "minutes": sql.DELETE_MINUTES,
}


def delete_old(now: datetime, *, seconds: float = 10.0, batch: int = BATCH) -> dict[str, int]:
    """Delete batch by batch until nothing is left, or the time is over; how many of each."""
    before = now - timedelta(days=settings.DURE_RETENTION_DAYS)
    until = time.monotonic() + seconds
    deleted = dict.fromkeys(STATEMENTS, 0)
    for name, statement in STATEMENTS.items():
        found = batch
        while found >= batch and time.monotonic() < until:
            found = call.change(statement, {"before": before, "limit": batch})
            deleted[name] += found
    deleted["answers"] = idempotency.forget_old(now, batch)
    if any(deleted.values()):
        log.info(
            "retention deleted %s", ", ".join(f"{count} {name}" for name, count in deleted.items() if count)
        )
    return deleted
