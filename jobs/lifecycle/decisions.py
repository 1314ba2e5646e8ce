"""cancel, retry, reprioritise: what people decide, and the events that record it."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from dure.failures import FailureType
from jobs.answers import CancelResult, RetryResult, Settlement
from jobs.effects import Effects
from jobs.lifecycle.runs import end_handlers
from jobs.lifecycle.submissions import unique_key_conflicts
from jobs.sql import call, statements
from jobs.states import ExecutionStatus


def cancel(office: UUID, jobs: Sequence[UUID], *, actor: str, reason: str = "") -> CancelResult:
    """Cancel jobs in any live state. A live run receives a stop request, and is killed after its grace."""
    with transaction.atomic():
        call.rows(statements.LOCK_OFFICE, [office])
        answer = call.function("dure_cancel", office, list(jobs), _event_details(actor, reason))
        Effects.read(answer).on_commit()
    return CancelResult(answer["cancelled"], answer["cancelling"])


def cancel_execution(execution: UUID | str) -> str | None:
    """Cancel an Execution that no job owns; its status now, or None when it had ended."""
    with transaction.atomic():
        rows = call.rows(statements.CANCEL_EXECUTION, [execution])
        if not rows:
            return None
        status, trigger, source, wakes = rows[0]
        if wakes:
            transaction.on_commit(lambda: _wake_exclusive(execution), robust=True)
        if status == ExecutionStatus.CANCELLED:
            handler = end_handlers.get(trigger)
            if handler is not None:
                handler(Settlement(str(execution), source, status, FailureType.CANCELLED, ""))
        else:
            Effects(stop=[str(execution)]).on_commit()
    return str(status)


def _wake_exclusive(execution: UUID | str) -> None:
    """Send the run that waits for the end of this exclusive one.

    In a transaction of its own: a claim takes the lock of exclusive runs before that of its row.
    """
    for (sends,) in call.rows(statements.WAKE_EXCLUSIVE, [execution]):
        Effects.read({"send": json.loads(sends)}).on_commit()


def retry(office: UUID, jobs: Sequence[UUID], *, actor: str, reason: str = "") -> RetryResult:
    """Run failed, cancelled or timed-out jobs again, each with a new Execution.

    A job that fails with its dependencies is retried after them, or together with them.
    """
    with unique_key_conflicts(), transaction.atomic():
        call.rows(statements.LOCK_OFFICE, [office])
        answer = call.function("dure_retry", office, list(jobs), _event_details(actor, reason))
        Effects.read(answer).on_commit()
    return RetryResult(answer["retried"], [UUID(job) for job in answer["blocked"]])


def reprioritise(
    office: UUID,
    jobs: Sequence[UUID],
    *,
    priority: int | None = None,
    urgent: bool | None = None,
    delta: int | None = None,
    actor: str = "",
    reason: str = "",
) -> int:
    """Change the order of jobs that have not ended; how many did change."""
    values = {
        "office": office,
        "jobs": list(jobs),
        "priority": priority,
        "urgent": urgent,
        "delta": delta,
        "details": _event_details(actor, reason),
    }
    with transaction.atomic():
        call.rows(statements.LOCK_OFFICE, [office])
        return call.change(statements.SET_PRIORITY, values)


def record_event(
    office: UUID, batch: UUID | None, event_type: str, details: Mapping[str, Any], now: datetime
) -> None:
    """Add an event without a job. The caller's transaction writes what it tells."""
    with transaction.atomic():
        # Ids of events grow in the order of their commits, which the office's lock gives them.
        call.rows(statements.LOCK_OFFICE, [office])
        call.rows(statements.RECORD_EVENT, [office, batch, event_type, call.as_json(details), now])
        Effects(publish=str(office), notify=str(office)).on_commit()


def _event_details(actor: str, reason: str) -> str:
    return call.as_json({key: text for key, text in (("actor", actor), ("reason", reason)) if text})
