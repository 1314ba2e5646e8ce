"""The safety net: passes that find, by index, whatever a lost message or a dead process left undone.

Every pass may run any number of times, anywhere, at once; the guards of the verbs decide.
"""

import logging
from datetime import datetime

from jobs import counters, joins, lifecycle
from jobs.notifications import creation
from jobs.sql import call, statements

log = logging.getLogger(__name__)


def sweep_once(now: datetime | None = None) -> dict[str, int]:
    """One of each pass; what they put right, for the log and the metrics."""
    forgotten = joins.epoch_is_lost()
    done = {
        "rescued": lifecycle.rescue(),
        "reseeded": lifecycle.reseed() if forgotten else 0,
        "woken": lifecycle.wake(now),
        "promoted": promote_once(now),
        "resent": lifecycle.resend(everything=forgotten),
        "noticed": creation.sweep(now),
    }
    for name, count in ((counters.RESCUED, done["rescued"]), (counters.RESENT, done["resent"])):
        if count:
            counters.add(name, count)
    if forgotten:
        counters.add(counters.RESEEDED)
    if any(done.values()):
        log.info("swept: %s", ", ".join(f"{name} {count}" for name, count in done.items() if count))
    return done


def promote_once(now: datetime | None = None) -> int:
    """Offices in which something may be free that nobody released, or ready and unsent."""
    promoted = 0
    for (office,) in call.rows(statements.UNSETTLED_OFFICES):
        promoted += lifecycle.process(office, now).promoted
    return promoted
