"""A workflow's run: pending → running → completed, failed or cancelled; resumed, running again.

The run's batch is submitted in the transaction that marks it as running, so a run starts once however
many callers there are, and a caller that dies leaves it pending. Whether it has ended is read from the
jobs themselves; nobody has to tell.
"""

import logging
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Max

from jobs import lifecycle as engine
from jobs.errors import Conflict, Refused
from jobs.ids import uuid7
from jobs.models import Job
from jobs.sql import call
from jobs.states import JobStatus
from scheduler import sql
from scheduler.models import Workflow, WorkflowRun, WorkflowRunStart
from scheduler.states import RUN_RESUMABLE, RunStatus
from scheduler.workflows import steps
from scheduler.workflows.lifecycle import schedule_next_run, snapshot

log = logging.getLogger(__name__)

STARTS_AT_ONCE = 100


def run_due(now: datetime, limit: int = STARTS_AT_ONCE) -> list[UUID]:
    """Start the runs that are due, each in its own transaction; those that were started by this call."""
    started: list[UUID] = []
    while len(started) < limit:
        run = _start_next(now)
        if run is None:
            break
        started.append(run)
    return started


def _start_next(now: datetime) -> UUID | None:
    with transaction.atomic():
        run = (
            # Both rows: what edits a workflow holds its row, and this must not wait for it.
            WorkflowRun.objects.select_for_update(skip_locked=True, of=("self", "workflow"))
            .select_related("workflow__office")
            .filter(status=RunStatus.PENDING, scheduled_time__lte=now)
            .order_by("scheduled_time")
            .first()
        )
        if run is None:
            return None
        workflow = run.workflow
        workflow.last_occurrence = run.scheduled_time
        workflow.save(update_fields=["last_occurrence"])
        _start(run, now)
        schedule_next_run(workflow, now)
        return run.id


def run_now(workflow_id: UUID | str, *, user_id: int | None, now: datetime) -> WorkflowRun:
    """A run by hand, whatever the workflow's mode and status; its registered run stays as it is."""
    with transaction.atomic():
        workflow = (
            Workflow.objects.select_for_update(of=("self",)).select_related("office").get(pk=workflow_id)
        )
        if not workflow.steps:
            raise Conflict("The workflow has no steps to run.", code="no_steps")
        run = WorkflowRun(
            workflow=workflow,
            scheduled_time=now,
            created_at=now,
            started_by_id=user_id,
            status=RunStatus.RUNNING,
        )
        _start(run, now)
        return run


def resume(run_id: UUID | str, *, actor: str, now: datetime) -> WorkflowRun:
    """Run what failed or was cancelled again, and what waits for it; what succeeded is kept."""
    with transaction.atomic():
        run = (
            WorkflowRun.objects.select_for_update(of=("self",))
            .select_related("workflow__office")
            .get(pk=run_id)
        )
        if run.status not in RUN_RESUMABLE:
            raise Conflict(f"A run that is {run.status} cannot be resumed.", code="not_resumable")
        run.retry_count += 1
        if run.batch_id is None:
            _start(run, now)
            return run
        again = Job.objects.filter(batch=run.batch_id, status__in=(JobStatus.FAILED, JobStatus.CANCELLED))
        engine.retry(run.workflow.office_id, list(again.values_list("id", flat=True)), actor=actor)
        _open(run, now)
        return run


def settle_runs(now: datetime, run_id: UUID | None = None) -> int:
    """Write the end of runs whose steps have ended, or of which none can move any more."""
    settled = 0
    with transaction.atomic():
        for (found,) in call.rows(sql.SETTLED_RUNS, {"run": run_id and str(run_id), "before": now}):
            run = WorkflowRun.objects.get(pk=found)
            _close(run, _outcome(run), now)
            settled += 1
    return settled


def judge_again(now: datetime) -> int:
    """Write anew the end of runs whose failed steps somebody ran again as jobs, beside `resume`."""
    judged = 0
    with transaction.atomic():
        for (found,) in call.rows(sql.ENDED_AGAIN):
            run = WorkflowRun.objects.get(pk=found)
            _open(run, now)
            _close(run, _outcome(run), now)
            judged += 1
    return judged


# --- the parts of the verbs above ------------------------------------------------------------------


def _start(run: WorkflowRun, now: datetime) -> None:
    """Submit the steps as they are now. A refusal ends the run, and the reason is kept."""
    workflow = run.workflow
    run.workflow_data = snapshot(workflow)
    batch = uuid7()
    try:
        prepared = steps.prepare(workflow.office, workflow.steps, batch=batch, name=workflow.name)
        engine.submit(prepared)
    except Refused as refused:
        _open(run, now)
        said = "; ".join(f"{field}: {' '.join(why)}" for field, why in refused.errors_in_english().items())
        _close(run, Outcome(RunStatus.FAILED, f"{refused} {said}".strip()), now)
        return
    run.batch_id = batch
    _open(run, now)


@dataclass(frozen=True)
class Outcome:
    status: RunStatus
    error_message: str = ""


def _outcome(run: WorkflowRun) -> Outcome:
    total, done, failed, cancelled, first = call.rows(sql.STEPS_OF_BATCH, {"batch": run.batch_id})[0]
    if total == 0:
        return Outcome(RunStatus.FAILED, "The run's jobs were deleted.")
    if failed:
        blocked = total - done - failed - cancelled
        waiting = f" {blocked} more wait for it." if blocked else ""
        return Outcome(RunStatus.FAILED, f"{failed} of {total} steps failed. {first}{waiting}")
    if done == total:
        return Outcome(RunStatus.COMPLETED)
    return Outcome(RunStatus.CANCELLED, f"{total - done} of {total} steps were cancelled.")


def _open(run: WorkflowRun, now: datetime) -> None:
    run.status, run.ended_at, run.error_message = RunStatus.RUNNING, None, ""
    run.executed_at = run.executed_at or now
    run.updated_at = now
    run.save()
    number = run.history.aggregate(last=Max("number"))["last"] or 0
    WorkflowRunStart.objects.create(run=run, number=number + 1, started_at=now)


def _close(run: WorkflowRun, outcome: Outcome, now: datetime) -> None:
    run.status, run.error_message, run.ended_at, run.updated_at = (
        outcome.status,
        outcome.error_message,
        now,
        now,
    )
    run.save(update_fields=["status", "error_message", "ended_at", "updated_at"])
    run.history.filter(ended_at__isnull=True).update(
        ended_at=now, status=outcome.status, error_message=outcome.error_message
    )
    log.info("run %s of workflow %s: %s %s", run.id, run.workflow_id, outcome.status, outcome.error_message)
