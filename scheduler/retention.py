"""Deletes rows that ended longer ago than DURE_RETENTION_DAYS, in batches.

It deletes the engine's rows first (jobs, Executions, events, notifications, idempotency records), then
occurrences, deleted schedules without Executions, ended workflow runs, the step queues that runs have
copied, minute statistics, and deletions that are too old to undo. It never deletes live rows.
"""

import logging
import time
from datetime import datetime, timedelta

from django.conf import settings

from jobs import retention as engine
from scheduler import deletions, sql
from scheduler.steps.sql import DELETE_COPIES

log = logging.getLogger(__name__)

BATCH = 5_000
STATEMENTS = {
    "occurrences": sql.DELETE_OCCURRENCES,
    "schedules": sql.DELETE_SCHEDULES,
    "runs": sql.DELETE_RUNS,
    "step_queues": DELETE_COPIES,
    "minutes": sql.DELETE_MINUTES,
    "minutes_of_roles": sql.DELETE_MINUTES_OF_ROLES,
}


def delete_old(now: datetime, *, seconds: float = 10.0, batch: int = BATCH) -> dict[str, int]:
    """Delete batch by batch until no row is left or the time is over; return the counts."""
    before = now - timedelta(days=settings.DURE_RETENTION_DAYS)
    until = time.monotonic() + seconds
    deleted = engine.delete_old(before, now, until=until, batch=batch)
    for name, statement in STATEMENTS.items():
        deleted[name] = engine.delete_batches(statement, {"before": before, "limit": batch}, until)
    deleted["deletions"] = engine.repeat(lambda: deletions.delete_old(now, batch), batch, until)
    if any(deleted.values()):
        log.info(
            "retention deleted %s", ", ".join(f"{count} {name}" for name, count in deleted.items() if count)
        )
    return deleted
