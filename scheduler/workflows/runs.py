"""Starts, resumes, cancels and ends workflow runs: pending → running → completed, failed or cancelled.

The transaction that marks a run as running also submits its batch. So a run starts once, however many
callers there are, and a caller that dies leaves it pending. Whether a run has ended is read from its jobs.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from jobs import activity
from jobs import lifecycle as engine
from jobs.errors import Conflict, Refused
from jobs.ids import uuid7
from jobs.models import Job
from jobs.specs import Occasion
from jobs.sql import call
from jobs.states import JOB_LIVE, Act, JobStatus
from scheduler.models import Workflow, WorkflowRun
from scheduler.sql import statements
from scheduler.states import RunStatus
from scheduler.workflows import endings, inputs, steps
from scheduler.workflows.lifecycle import schedule_next_run, snapshot

BATCH = 100


def run_due(now: datetime) -> list[UUID]:
    """Start the due runs, each in its own transaction, and return the ids of those this call started."""
    started: list[UUID] = []
    while len(started) < BATCH:
        run = _start_next(now)
        if run is None:
            break
        started.append(run)
    return started


def _start_next(now: datetime) -> UUID | None:
    with transaction.atomic():
        run = (
            # Lock both rows and skip locked ones: an edit holds its workflow's row, and this must not wait.
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
        run.input = _default_input(workflow)
        _start(run, now)
        schedule_next_run(workflow, now)
        return run.id


def run_now(
    workflow_id: UUID | str, *, user_id: int | None, now: datetime, run_input: object = None
) -> WorkflowRun:
    """Start a manual run, in any mode and status of the workflow. The pending run does not change."""
    with transaction.atomic():
        workflow = (
            Workflow.objects.select_for_update(of=("self",)).select_related("office").get(pk=workflow_id)
        )
        if not workflow.steps:
            raise Conflict("no_steps")
        run_input = _default_input(workflow) if run_input is None else run_input
        inputs.check_input(workflow.input_schema, run_input)
        run = WorkflowRun(
            workflow=workflow,
            input=run_input,
            scheduled_time=now,
            created_at=now,
            started_by_id=user_id,
            status=RunStatus.RUNNING,
        )
        _start(run, now)
        _record(Act.WORKFLOW_RUN, run)
        return run


def resume(run_id: UUID | str, *, actor: str, now: datetime) -> WorkflowRun:
    """Retry the failed and cancelled steps and run those that depend on them."""
    with transaction.atomic():
        run = _lock(run_id)
        if not run.is_resumable:
            raise Conflict("not_resumable", status=run.status)
        if run.batch_id is None:
            run.retry_count += 1
            _start(run, now)
        else:
            _retry_steps(run, actor, now)
        _record(Act.WORKFLOW_RUN_RETRIED, run, actor=actor)
        return run


def cancel(run_id: UUID | str, *, actor: str, now: datetime, reason: str = "") -> WorkflowRun:
    """Cancel the steps that have not ended. The run ends as cancelled after the last of them has stopped."""
    with transaction.atomic():
        run = _lock(run_id)
        if run.status != RunStatus.RUNNING:
            raise Conflict("run_not_running", status=run.status)
        run.cancel_requested_at = run.updated_at = now
        run.save(update_fields=["cancel_requested_at", "updated_at"])
        jobs = Job.objects.filter(batch=run.batch_id, status__in=JOB_LIVE)
        ids = list(jobs.values_list("id", flat=True))
        engine.cancel(run.workflow.office_id, ids, actor=actor, reason=reason)
        because = {"reason": reason} if reason else {}
        _record(Act.WORKFLOW_RUN_CANCELLED, run, actor=actor, **because)
    settle_runs(now, run.id)
    run.refresh_from_db()
    return run


def settle_runs(now: datetime, run_id: UUID | None = None) -> int:
    """Write the end of runs whose steps have ended or can make no further progress, or retry them."""
    return _each_run(
        call.rows(statements.SETTLED_RUNS, {"run": run_id and str(run_id), "before": now}), _settle, now
    )


def settle_retried_runs(now: datetime) -> int:
    """Write the end of ended runs again whose steps were retried as single jobs, without `resume`."""
    return _each_run(call.rows(statements.RETRIED_RUNS, {"run": None}), _settle_again, now)


def _each_run(rows: Iterable[tuple[UUID]], settle: Callable[[UUID, datetime], bool], now: datetime) -> int:
    # Each in a transaction of its own, since the end of a run locks its office.
    return sum(settle(run_id, now) for (run_id,) in rows)


def _settle(run_id: UUID, now: datetime) -> bool:
    with transaction.atomic():
        if not call.rows(statements.SETTLED_RUNS + statements.LOCK_RUN, {"run": str(run_id), "before": now}):
            return False  # another process has settled it
        run = WorkflowRun.objects.select_related("workflow").get(pk=run_id)
        outcome = endings.outcome_of(run)
        if not _retry_automatically(run, outcome, now):
            endings.close(run, outcome, now)
        return True


def _retry_automatically(run: WorkflowRun, outcome: endings.Outcome, now: datetime) -> bool:
    if not outcome.is_retryable or run.retry_count >= run.workflow.max_run_retries:
        return False
    try:
        with transaction.atomic():
            endings.close_start(run, outcome, now)
            _retry_steps(run, "", now)
    except Refused:  # the unique key of a step is taken meanwhile
        return False
    return True


def _settle_again(run_id: UUID, now: datetime) -> bool:
    with transaction.atomic():
        if not call.rows(statements.RETRIED_RUNS + statements.LOCK_RUN, {"run": str(run_id)}):
            return False
        run = WorkflowRun.objects.select_related("workflow").get(pk=run_id)
        endings.open_start(run, now)
        endings.close(run, endings.outcome_of(run), now)
        return True


def _record(act: Act, run: WorkflowRun, *, actor: str | None = None, **details: Any) -> None:
    office, name = run.workflow.office_id, run.workflow.name
    activity.record(act, office=office, actor=actor, workflow=name, run=str(run.pk), **details)


def _default_input(workflow: Workflow) -> dict[str, object] | None:
    return None if workflow.input_schema is None else inputs.WITHOUT_INPUT


def _lock(run_id: UUID | str) -> WorkflowRun:
    runs = WorkflowRun.objects.select_for_update(of=("self",)).select_related("workflow__office")
    return runs.get(pk=run_id, workflow__deleted_at=None)


def _retry_steps(run: WorkflowRun, actor: str, now: datetime) -> None:
    jobs = Job.objects.filter(batch=run.batch_id, status__in=(JobStatus.FAILED, JobStatus.CANCELLED))
    engine.retry(run.workflow.office_id, list(jobs.values_list("id", flat=True)), actor=actor)
    run.retry_count += 1
    endings.open_start(run, now)


def _start(run: WorkflowRun, now: datetime) -> None:
    """Submit the current steps. If they are refused, the run fails with the reason."""
    workflow = run.workflow
    run.workflow_data = snapshot(workflow)
    batch = uuid7()
    try:
        prepared = steps.prepare(workflow.office, workflow.steps, batch=batch, name=workflow.name)
        prepared.occasion = Occasion(run.input, run.scheduled_time)
        engine.submit(prepared)
    except Refused as refused:
        endings.open_start(run, now)
        endings.close(run, endings.Outcome(RunStatus.FAILED, message=refused.summary()), now)
        return
    run.batch_id = batch
    endings.open_start(run, now)
