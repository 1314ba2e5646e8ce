"""What a list of runs can be narrowed to, and the conditions that this means for jobs and for Executions."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.db.models import Q

from jobs.ids import parse_uuid, uuid7_at
from jobs.models import Batch, Execution, Job, Office
from jobs.search import text_condition
from jobs.selection import in_states
from jobs.states import TRIGGERS_OF_JOBS, ExecutionStatus, JobStatus
from scheduler.schedules.history import of_schedule

MOST_BATCHES = 200
BATCHES_SEARCHED = 20_000


class RunState(StrEnum):
    """The states of jobs and of Executions in one vocabulary."""

    PENDING = "pending"
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = (RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED)


class Sort(StrEnum):
    NEWEST = "newest"
    OLDEST = "oldest"
    LONGEST = "longest"


@dataclass(frozen=True)
class RunFilter:
    q: str = ""
    states: Collection[str] = ()
    failure_types: Collection[str] = ()
    trigger: str = ""
    task_id: str = ""
    role: str = ""
    worker: str = ""
    office: UUID | None = None
    batch: UUID | None = None
    schedule: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    ended_since: datetime | None = None
    # The id of the newest run of the list; later ones are not part of it.
    newest: UUID | None = None
    sort: Sort = Sort.NEWEST


CLAIMED = Q(execution__status=ExecutionStatus.RUNNING)
_UNCLAIMED = Q(status=JobStatus.PROCESSING) & ~CLAIMED
JOB_STATES: dict[str, Q] = {
    RunState.PENDING: in_states((JobStatus.PENDING, JobStatus.TIMEOUT)),
    RunState.QUEUED: Q(status=JobStatus.READY) | _UNCLAIMED,
    RunState.RUNNING: Q(status=JobStatus.PROCESSING) & CLAIMED,
    RunState.SUCCEEDED: Q(status=JobStatus.DONE),
    RunState.FAILED: Q(status=JobStatus.FAILED),
    RunState.CANCELLED: Q(status=JobStatus.CANCELLED),
}
EXECUTION_STATES: dict[str, Q] = {
    RunState.PENDING: Q(status=ExecutionStatus.PENDING, dispatched_at__isnull=True),
    RunState.QUEUED: Q(status=ExecutionStatus.PENDING, dispatched_at__isnull=False),
    RunState.RUNNING: Q(status=ExecutionStatus.RUNNING),
    RunState.SUCCEEDED: Q(status=ExecutionStatus.SUCCESS),
    RunState.FAILED: Q(status=ExecutionStatus.FAILED),
    RunState.CANCELLED: Q(status=ExecutionStatus.CANCELLED),
}
_STATES_OF_EXECUTIONS = {
    ExecutionStatus.RUNNING: RunState.RUNNING,
    ExecutionStatus.SUCCESS: RunState.SUCCEEDED,
    ExecutionStatus.FAILED: RunState.FAILED,
    ExecutionStatus.CANCELLED: RunState.CANCELLED,
}
_STATES_OF_JOBS = {
    JobStatus.READY: RunState.QUEUED,
    JobStatus.DONE: RunState.SUCCEEDED,
    JobStatus.FAILED: RunState.FAILED,
    JobStatus.CANCELLED: RunState.CANCELLED,
}


def state_of_job(job: Job) -> RunState:
    if job.status == JobStatus.PROCESSING:
        run = job.execution
        claimed = run is not None and run.status == ExecutionStatus.RUNNING
        return RunState.RUNNING if claimed else RunState.QUEUED
    return _STATES_OF_JOBS.get(JobStatus(job.status), RunState.PENDING)


def state_of_execution(run: Execution) -> RunState:
    if run.status == ExecutionStatus.PENDING:
        return RunState.QUEUED if run.dispatched_at else RunState.PENDING
    return _STATES_OF_EXECUTIONS[ExecutionStatus(run.status)]


def of_jobs(values: RunFilter, offices: Collection[UUID] | None) -> Q | None:
    """The condition on jobs, among these offices (None: all); None if no job can match."""
    if values.schedule or (values.trigger and values.trigger not in TRIGGERS_OF_JOBS):
        return None
    condition = _common(values, JOB_STATES)
    if values.trigger:
        condition &= Q(trigger=values.trigger)
    if values.worker:
        condition &= Q(execution__worker=values.worker)
    if values.batch:
        condition &= Q(batch_id=values.batch)
    if values.ended_since:
        condition &= Q(completed_at__gte=values.ended_since)
    if values.q:
        condition &= _text_of_jobs(values.q, offices)
    return condition


def of_executions(values: RunFilter) -> Q | None:
    """The condition on Executions without a job; None if none can match."""
    if values.office or values.batch or values.trigger in TRIGGERS_OF_JOBS:
        return None
    condition = _common(values, EXECUTION_STATES)
    if values.trigger:
        condition &= Q(trigger=values.trigger)
    if values.schedule:
        condition &= of_schedule(values.schedule)
    if values.worker:
        condition &= Q(worker=values.worker)
    if values.ended_since:
        condition &= Q(finished_at__gte=values.ended_since)
    if values.q:
        condition &= text_condition(values.q, "task_id", "error")
    return condition


def _common(values: RunFilter, states: dict[str, Q]) -> Q:
    condition = Q()
    if values.states:
        any_state = Q(pk__in=())
        for state in values.states:
            any_state |= states[state]
        condition &= any_state
    if values.failure_types:
        condition &= Q(failure_type__in=list(values.failure_types))
    if values.task_id:
        condition &= Q(task_id=values.task_id)
    if values.role:
        condition &= Q(role=values.role)
    # Ids grow with time; the time itself decides.
    if values.since:
        condition &= Q(id__gte=uuid7_at(values.since, smallest=True), created_at__gte=values.since)
    if values.newest:
        condition &= Q(id__lte=values.newest)
    if values.until:
        condition &= Q(created_at__lt=values.until)
    return condition


def _text_of_jobs(text: str, offices: Collection[UUID] | None) -> Q:
    batches = Batch.objects.order_by("-id")
    named = Office.objects.filter(name__icontains=text)
    if offices is not None:
        batches, named = batches.filter(office_id__in=offices), named.filter(pk__in=offices)
    newest = batches.values("id")[:BATCHES_SEARCHED]
    ids = list(
        Batch.objects.filter(pk__in=newest, name__icontains=text).values_list("id", flat=True)[:MOST_BATCHES]
    )
    condition = text_condition(text, "ref", "task_id", "error_message")
    if ids:
        condition |= Q(batch_id__in=ids)
    if office_ids := list(named.values_list("id", flat=True)[:MOST_BATCHES]):
        condition |= Q(office_id__in=office_ids)
    if identity := parse_uuid(text):
        condition |= Q(execution_id=identity) | Q(batch_id=identity)
    return condition
