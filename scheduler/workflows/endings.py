"""The starts and the end of a workflow run, read from its jobs, and the event of one that failed."""

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max

from jobs import lifecycle as engine
from jobs.errors import ErrorText, in_english
from jobs.sql import call
from jobs.states import EventType
from scheduler.models import WorkflowRun, WorkflowRunStart
from scheduler.sql import statements
from scheduler.states import RunStatus

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """`error` is the text of `message` where the catalogue has one. A person's cancel is not retryable."""

    status: RunStatus
    error: ErrorText | None = None
    message: str = ""
    is_retryable: bool = False

    @property
    def error_message(self) -> str:
        return in_english(self.error) if self.error else self.message


def outcome_of(run: WorkflowRun) -> Outcome:
    total, done, failed, cancelled, first = call.rows(statements.STEPS_OF_BATCH, {"batch": run.batch_id})[0]
    if total == 0:
        return Outcome(RunStatus.FAILED, ErrorText("run_jobs_deleted"))
    if run.cancel_requested_at and done < total:
        return Outcome(RunStatus.CANCELLED, ErrorText("run_cancelled", cancelled=total - done, total=total))
    if failed:
        blocked = total - done - failed - cancelled
        counts = {"failed": failed, "total": total, "first": first}
        text = (
            ErrorText("run_blocked", **counts, blocked=blocked)
            if blocked
            else ErrorText("run_failed", **counts)
        )
        return Outcome(RunStatus.FAILED, text, is_retryable=not cancelled)
    if done == total:
        return Outcome(RunStatus.COMPLETED)
    return Outcome(RunStatus.CANCELLED, ErrorText("run_cancelled", cancelled=total - done, total=total))


def open_start(run: WorkflowRun, now: datetime) -> None:
    """Begin the first start of a run, or a further one."""
    run.status, run.ended_at, run.error_message, run.error_text = RunStatus.RUNNING, None, "", None
    run.executed_at = run.executed_at or now
    run.cancel_requested_at = None
    run.updated_at = now
    run.save()
    number = run.history.aggregate(last=Max("number"))["last"] or 0
    WorkflowRunStart.objects.create(run=run, number=number + 1, started_at=now)


def close_start(run: WorkflowRun, outcome: Outcome, now: datetime) -> None:
    """Write the end of the current start in the log; the run itself goes on."""
    run.history.filter(ended_at__isnull=True).update(**_values(outcome, now))
    log.info("run %s of workflow %s: %s %s", run.id, run.workflow_id, outcome.status, outcome.error_message)


def close(run: WorkflowRun, outcome: Outcome, now: datetime) -> None:
    """Write the end of the run, with an event of its office if it has failed."""
    values = _values(outcome, now) | {"updated_at": now}
    for field, value in values.items():
        setattr(run, field, value)
    run.save(update_fields=list(values))
    close_start(run, outcome, now)
    if outcome.status == RunStatus.FAILED:
        details = {
            "workflow_id": str(run.workflow_id),
            "workflow": run.workflow_data.get("name", ""),
            "run_id": str(run.id),
            "retry_count": run.retry_count,
            "error": outcome.error_message,
        }
        engine.record_event(run.workflow.office_id, run.batch_id, EventType.WORKFLOW_RUN_FAILED, details, now)


def _values(outcome: Outcome, now: datetime) -> dict[str, Any]:
    error = outcome.error and {"code": outcome.error.code, "params": dict(outcome.error.params)}
    return {
        "status": outcome.status,
        "error_message": outcome.error_message,
        "error_text": error,
        "ended_at": now,
    }
