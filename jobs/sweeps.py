"""The safety net: passes that find, by index, what a lost message or a dead process left undone.

Every pass may run any number of times, anywhere, at once; the guards of the verbs decide.
"""

import logging
from datetime import datetime

from jobs import counters, joins, lifecycle
from jobs.notifications import creation
from jobs.sql import call, statements

log = logging.getLogger(__name__)


def sweep_once(now: datetime | None = None) -> dict[str, int]:
    """Run each pass once; return the numbers of repairs, for the log and the metrics."""
    # First, since it needs no Redis, which may take seconds not to answer.
    rescued = lifecycle.rescue()
    redis_lost_data = joins.epoch_is_lost()
    reseeds = redis_lost_data or lifecycle.has_unseeded_joins()
    done = {
        "rescued": rescued,
        "reseeded": lifecycle.reseed() if reseeds else 0,
        "due": lifecycle.send_due(now),
        "overdue": lifecycle.fail_overdue(now),
        "unclaimed": lifecycle.return_unclaimed(),
        "promoted": advance_stuck_offices(now),
        "republished": lifecycle.republish(everything=redis_lost_data),
        "notifications": creation.sweep(now),
    }
    for name, count in ((counters.RESCUED, done["rescued"]), (counters.RESENT, done["republished"])):
        if count:
            counters.add(name, count)
    if redis_lost_data:
        counters.add(counters.RESEEDED)
    if any(done.values()):
        log.info("swept: %s", ", ".join(f"{name} {count}" for name, count in done.items() if count))
    return done


def advance_stuck_offices(now: datetime | None = None) -> int:
    """Advance the offices that may have a job which is free and not released, or ready and not sent."""
    offices = call.rows(statements.STUCK_OFFICES)
    return sum(lifecycle.advance_office(office, now).promoted for (office,) in offices)
