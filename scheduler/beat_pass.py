"""What beat does in each tick beside sending PeriodicTasks: one pass over all that is due."""

import logging
from datetime import datetime

from jobs import lifecycle as engine
from jobs.sql import call
from scheduler import sql
from scheduler.schedules.firing import BATCH, FiringResult, fire_due
from scheduler.workflows.runs import run_due, settle_runs

log = logging.getLogger(__name__)

# Rounds of schedules before workflows and retries have their turn again.
ROUNDS = 10


def pass_once() -> float | None:
    """Fire schedules, start and settle runs, send due retries; the seconds until the next one is due."""
    now, due = next_due()
    if due is not None and due <= now:
        fire_all(now)
        run_due(now)
    settle_runs(now)
    engine.send_due(now)
    now, due = next_due()
    return None if due is None else max(0.0, (due - now).total_seconds())


def fire_all(now: datetime) -> FiringResult:
    """Fire what is due, batch by batch: each is a transaction of its own."""
    total = FiringResult()
    for _ in range(ROUNDS):
        fired = fire_due(now)
        total += fired
        if fired.schedules < BATCH:
            break
    return total


def next_due() -> tuple[datetime, datetime | None]:
    """The database's time, and when the next schedule or run is due."""
    now, due = call.rows(sql.NEXT_DUE)[0]
    return now, due
