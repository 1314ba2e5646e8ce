"""rescue, republish, reseed: what the sweeps repair."""

import logging

from django.conf import settings

from jobs import joins, publish
from jobs.lifecycle.dispatch import send_rows
from jobs.lifecycle.runs import mark_lost
from jobs.sql import call, statements

log = logging.getLogger(__name__)


def rescue(limit: int = 1_000) -> int:
    """Settle the runs whose lease ran out, each under the guard that it still has not been renewed."""
    count = 0
    for execution, fence, worker, trigger in call.rows(statements.EXPIRED_LEASES, [limit]):
        error = f"The worker {worker} stopped renewing its lease."
        if mark_lost(str(execution), fence, trigger=trigger, expired=True, error=error) is not None:
            count += 1
            log.warning("rescued %s from %s", execution, worker)
    return count


def republish(*, everything: bool = False, limit: int = 5_000) -> int:
    """Republish unclaimed messages; if Redis has lost its data, all of them."""
    values = {
        "all": everything,
        "after": settings.DURE_REPUBLISH_SECONDS,
        "level": publish.FAIR,
        "limit": limit,
    }
    stale = call.rows(statements.REPUBLISH, values)
    send_rows(stale)
    return len(stale)


def reseed() -> int:
    """Store in Redis the size of every join that waits, and count the parts that have come in."""
    unseeded = call.rows(statements.UNSEEDED)
    waiting = call.rows(statements.WAITING_JOINS)
    if not joins.seed(waiting):
        call.change(statements.ADD_UNSEEDED)
        return 0
    joins.count(call.rows(statements.ENDED_PARTS))
    for row in unseeded:
        call.change(statements.DELETE_UNSEEDED, row)
    return len(waiting)


def has_unseeded_joins() -> bool:
    """Whether a submission could not store the sizes of its joins, since Redis was away."""
    return bool(call.rows(statements.UNSEEDED))
