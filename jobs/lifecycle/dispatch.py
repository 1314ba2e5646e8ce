"""advance_office, send_due, return_unclaimed: what makes a job ready, gives it a slot, and sends it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings

from jobs.answers import AdvanceResult
from jobs.effects import Effects
from jobs.publish import Send
from jobs.sql import call, statements

DISPATCH_ROLES = "dure.dispatch_roles"
# The offices whose locks one transaction of dispatch_roles holds.
OFFICES_AT_ONCE = 100
# So many runs without an office are always sent at once.
FEW = 10


def advance_office(office: UUID | str, now: datetime | None = None) -> AdvanceResult:
    """Make due and unblocked jobs of an office ready, and fill its free slots."""
    answer = call.function("dure_advance_office", office, now)
    effects = Effects.read(answer)
    effects.on_commit()
    return AdvanceResult(answer["promoted"], len(effects.send))


def dispatch_roles(roles: Sequence[str]) -> int:
    """Send what waits for these roles, in as many offices as there are: their first worker came, or a paused
    role was resumed.
    """
    waiting = [office for (office,) in call.rows(statements.OFFICES_WAITING_FOR, {"roles": list(roles)})]
    return _dispatch_offices(waiting) + send_due() + send_unsent()


def _dispatch_offices(offices: Sequence[UUID]) -> int:
    count = 0
    for start in range(0, len(offices), OFFICES_AT_ONCE):
        piece = offices[start : start + OFFICES_AT_ONCE]
        answer = call.function("dure_dispatch_offices", piece)
        effects = Effects.read(answer)
        effects.on_commit()
        # What holds the lock of another office has perhaps not seen the worker yet.
        busy = {str(office) for office in piece} - set(answer["done"])
        count += len(effects.send) + sum(advance_office(office).dispatched for office in busy)
    return count


def return_unclaimed() -> int:
    """Take the slots back from jobs that no worker has claimed for long: processing → ready."""
    after = timedelta(seconds=settings.DURE_CLAIM_SECONDS)
    count = 0
    for (office,) in call.rows(statements.UNCLAIMED_OFFICES, {"after": after}):
        answer = call.function("dure_return_unclaimed", office, after)
        Effects.read(answer).on_commit()
        count += answer["returned"]
    return count


def fail_overdue(now: datetime | None = None, limit: int = 1_000) -> int:
    """Fail the jobs that have not started within their queue timeout."""
    count = 0
    for (office,) in call.rows(statements.OVERDUE_OFFICES, {"now": now, "limit": limit}):
        answer = call.function("dure_fail_overdue", office, now)
        Effects.read(answer).on_commit()
        count += answer["failed"]
    return count


def send_due(now: datetime | None = None, limit: int = 1_000) -> int:
    """Send what has become due: jobs at their `run_at` or their retry, those that their Task's rate limit
    allows now, and other Executions.
    """
    count = 0
    for (office,) in call.rows(statements.DUE_OFFICES, {"now": now, "limit": limit}):
        count += advance_office(office, now).promoted
    due = call.rows(statements.SEND_DUE_EXECUTIONS, {"now": now, "limit": limit})
    send_rows(due)
    # After what is due, which would otherwise wait for as long as jobs use up the rate of their Task.
    held = [office for (office,) in call.rows(statements.OFFICES_WITH_HELD, {"now": now, "most": limit})]
    return count + len(due) + _dispatch_offices(held)


def send_unsent() -> int:
    """Let enough messages wait for the workers, of runs that no office owns and that have none yet."""
    effects = Effects.read({"send": call.function("dure_send_unsent", FEW)})
    effects.on_commit()
    return len(effects.send)


def send_rows(rows: Sequence[tuple[Any, ...]]) -> None:
    Effects(send=[Send(str(execution), *values) for execution, *values in rows]).on_commit()
