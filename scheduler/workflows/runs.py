"""Starts, resumes and ends workflow runs: pending → running → completed, failed or cancelled.

The transaction that marks a run as running also submits its batch. So a run starts once, however many
callers there are, and a caller that dies leaves it pending. Whether a run has ended is read from its jobs.
"""

import logging
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Max

from jobs import lifecycle as engine
from jobs.errors import Conflict, ErrorText, Refused, in_english
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

BATCH = 100


def run_due(now: datetime, limit: int = BATCH) -> list[UUID]:
    """Start the due runs, each in its own transaction, and return the ids of those this call started."""
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
        _start(run, now)
        schedule_next_run(workflow, now)
        return run.id


def run_now(workflow_id: UUID | str, *, user_id: int | None, now: datetime) -> WorkflowRun:
    """Start a manual run, in any mode and status of the workflow. The pending run does not change."""
    with transaction.atomic():
        workflow = (
            Workflow.objects.select_for_update(of=("self",)).select_related("office").get(pk=workflow_id)
        )
        if not workflow.steps:
            raise Conflict("no_steps")
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
    """Retry the failed and cancelled steps and run those that depend on them."""
    with transaction.atomic():
        run = (
            WorkflowRun.objects.select_for_update(of=("self",))
            .select_related("workflow__office")
            .get(pk=run_id)
        )
        if run.status not in RUN_RESUMABLE:
            raise Conflict("not_resumable", status=run.status)
        run.retry_count += 1
        if run.batch_id is None:
            _start(run, now)
            return run
        jobs = Job.objects.filter(batch=run.batch_id, status__in=(JobStatus.FAILED, JobStatus.CANCELLED))
        engine.retry(run.workflow.office_id, list(jobs.values_list("id", flat=True)), actor=actor)
        _open(run, now)
        return run


def settle_runs(now: datetime, run_id: UUID | None = None) -> int:
    """Write the end of runs whose steps have ended or can make no further progress."""
    settled = 0
    with transaction.atomic():
        for (settled_id,) in call.rows(sql.SETTLED_RUNS, {"run": run_id and str(run_id), "before": now}):
            run = WorkflowRun.objects.get(pk=settled_id)
            _close(run, _outcome(run), now)
            settled += 1
    return settled


def settle_retried_runs(now: datetime) -> int:
    """Write the end of ended runs again whose steps were retried as single jobs, without `resume`."""
    settled = 0
    with transaction.atomic():
        for (run_id,) in call.rows(sql.RETRIED_RUNS):
            run = WorkflowRun.objects.get(pk=run_id)
            _open(run, now)
            _close(run, _outcome(run), now)
            settled += 1
    return settled


def _start(run: WorkflowRun, now: datetime) -> None:
    """Submit the current steps. If they are refused, the run fails with the reason."""
    workflow = run.workflow
    run.workflow_data = snapshot(workflow)
    batch = uuid7()
    try:
        prepared = steps.prepare(workflow.office, workflow.steps, batch=batch, name=workflow.name)
        engine.submit(prepared)
    except Refused as refused:
        _open(run, now)
        fields = [f"{field}: {' '.join(texts)}" for field, texts in refused.errors_in_english().items()]
        _close(run, Outcome(RunStatus.FAILED, message="; ".join(fields) or str(refused)), now)
        return
    run.batch_id = batch
    _open(run, now)


@dataclass(frozen=True)
class Outcome:
    """`error` is the text of `message` where the catalogue has one."""

    status: RunStatus
    error: ErrorText | None = None
    message: str = ""

    @property
    def error_message(self) -> str:
        return in_english(self.error) if self.error else self.message


def _outcome(run: WorkflowRun) -> Outcome:
    total, done, failed, cancelled, first = call.rows(sql.STEPS_OF_BATCH, {"batch": run.batch_id})[0]
    if total == 0:
        return Outcome(RunStatus.FAILED, ErrorText("run_jobs_deleted"))
    if failed:
        blocked = total - done - failed - cancelled
        counts = {"failed": failed, "total": total, "first": first}
        if blocked:
            return Outcome(RunStatus.FAILED, ErrorText("run_blocked", **counts, blocked=blocked))
        return Outcome(RunStatus.FAILED, ErrorText("run_failed", **counts))
    if done == total:
        return Outcome(RunStatus.COMPLETED)
    return Outcome(RunStatus.CANCELLED, ErrorText("run_cancelled", cancelled=total - done, total=total))


def _open(run: WorkflowRun, now: datetime) -> None:
    run.status, run.ended_at, run.error_message, run.error_text = RunStatus.RUNNING, None, "", None
    run.executed_at = run.executed_at or now
    run.updated_at = now
    run.save()
    number = run.history.aggregate(last=Max("number"))["last"] or 0
    WorkflowRunStart.objects.create(run=run, number=number + 1, started_at=now)


def _close(run: WorkflowRun, outcome: Outcome, now: datetime) -> None:
    error = outcome.error and {"code": outcome.error.code, "params": dict(outcome.error.params)}
    values = {
        "status": outcome.status,
        "error_message": outcome.error_message,
        "error_text": error,
        "ended_at": now,
    }
    for field, value in (values | {"updated_at": now}).items():
        setattr(run, field, value)
    run.save(update_fields=[*values, "updated_at"])
    run.history.filter(ended_at__isnull=True).update(**values)
    log.info("run %s of workflow %s: %s %s", run.id, run.workflow_id, outcome.status, outcome.error_message)
