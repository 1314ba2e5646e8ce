"""One pass over everything that is due. Beat runs it in each tick, beside sending PeriodicTasks."""

import logging
from datetime import datetime

from jobs import lifecycle as engine
from jobs.sql import call
from scheduler.schedules.firing import BATCH, FiringResult, fire_due
from scheduler.sql import statements
from scheduler.workflows.runs import run_due, settle_runs

log = logging.getLogger(__name__)

# The most batches of schedules in one pass, so that workflows and retries do not wait for all of them.
MAX_BATCHES = 50
# How soon to look again while runs have no message yet: the workers that would take them may have died.
UNSENT_SECONDS = 0.3


def pass_once() -> float | None:
    """Fire schedules, start and settle runs, send due retries; return the seconds until the next due time."""
    now, due, _ = next_due()
    if due is not None and due <= now:
        fire_all(now)
        run_due(now)
    settle_runs(now)
    engine.send_due(now)
    now, due, has_unsent = next_due()
    wait = None if due is None else max(0.0, (due - now).total_seconds())
    if has_unsent:
        engine.send_unsent()
        wait = UNSENT_SECONDS if wait is None else min(wait, UNSENT_SECONDS)
    return wait


def fire_all(now: datetime) -> FiringResult:
    """Fire the due schedules batch by batch, each in a transaction of its own."""
    total = FiringResult()
    for _ in range(MAX_BATCHES):
        result = fire_due(now)
        total += result
        if result.schedules < BATCH:
            break
    return total


def next_due() -> tuple[datetime, datetime | None, bool]:
    """The database's time, the due time of the next schedule or run, and whether a run has no message yet."""
    now, due, has_unsent = call.rows(statements.NEXT_DUE)[0]
    return now, due, has_unsent
