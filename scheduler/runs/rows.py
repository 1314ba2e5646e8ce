"""The rows of the list of runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models.fields.json import KT

from jobs.models import Execution, Job
from jobs.states import Trigger
from scheduler.runs import filters
from scheduler.runs.filters import RunState


@dataclass(frozen=True)
class Run:
    """A row of the list: a job with its current run, or a run without a job."""

    id: UUID
    name: str
    task_id: str
    state: RunState
    trigger: Trigger
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    attempt: int
    worker: str
    failure_type: str
    error: str
    job: Job | None
    execution: Execution | None


def read_rows(ids: Sequence[tuple[UUID, bool]]) -> list[Run]:
    """The rows of a page, in this order."""
    jobs = Job.objects.select_related("execution", "batch", "office").defer(
        *("args", "execution__args", "execution__result", "execution__progress")
    )
    jobs = jobs.annotate(run_state=filters.state_by(filters.JOB_STATES))
    runs = Execution.objects.defer("args", "result", "progress").annotate(
        operation=KT("args__operation"), run_state=filters.state_by(filters.EXECUTION_STATES)
    )
    matches: dict[UUID, Run] = {}
    for job in jobs.filter(pk__in=[identity for identity, is_job in ids if is_job]):
        matches[job.pk] = _of_job(job, RunState(job.run_state))
    for run in runs.filter(pk__in=[identity for identity, is_job in ids if not is_job]):
        # A step's run is known by its operation.
        name = run.operation or "" if run.trigger == Trigger.STEP else ""
        matches[run.pk] = _of_execution(run, RunState(run.run_state), name)
    return [matches[identity] for identity, _ in ids if identity in matches]


def _of_job(job: Job, state: RunState) -> Run:
    run = job.execution
    return Run(
        id=job.id,
        name=job.ref,
        task_id=job.task_id,
        state=state,
        trigger=Trigger(job.trigger),
        created_at=job.created_at,
        started_at=run.started_at if run else job.started_at,
        ended_at=job.completed_at,
        attempt=run.attempt if run else 0,
        worker=run.worker if run else "",
        failure_type=job.failure_type,
        error=job.error_message,
        job=job,
        execution=run,
    )


def _of_execution(run: Execution, state: RunState, name: str) -> Run:
    return Run(
        id=run.id,
        name=name,
        task_id=run.task_id,
        state=state,
        trigger=Trigger(run.trigger),
        created_at=run.created_at,
        started_at=run.started_at,
        ended_at=run.finished_at,
        attempt=run.attempt,
        worker=run.worker,
        failure_type=run.failure_type,
        error=run.error,
        job=None,
        execution=run,
    )
