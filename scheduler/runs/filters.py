"""What a list of runs can be narrowed to, and the conditions that this means for jobs and for Executions."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Case, Q, TextField, Value, When

from jobs.ids import parse_uuid
from jobs.models import Batch, Execution, Office
from jobs.search import text_condition
from jobs.selection import in_states
from jobs.states import JOB_WAITING, TRIGGERS_OF_JOBS, ExecutionStatus, JobStatus
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
ENDED_BADLY = {RunState.FAILED, RunState.CANCELLED}


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
# The other filters that compare a column with a value.
LOOKUPS = {
    "failure_types": "failure_type__in",
    "task_id": "task_id",
    "role": "role",
    "trigger": "trigger",
    # An index finds the time by the ids, which grow with it: see parts_of. The time itself decides.
    "since": "created_at__gte",
    "until": "created_at__lt",
}
JOB_LOOKUPS = LOOKUPS | {"worker": "execution__worker", "ended_since": "completed_at__gte"}
EXECUTION_LOOKUPS = LOOKUPS | {"worker": "worker", "ended_since": "finished_at__gte"}
# The states of jobs that have not ended.
_LIVE_JOBS = {
    RunState.PENDING: JOB_WAITING,
    RunState.QUEUED: (JobStatus.READY, JobStatus.PROCESSING),
    RunState.RUNNING: (JobStatus.PROCESSING,),
}


def state_by(conditions: Mapping[str, Q]) -> Case:
    """The state whose condition a row meets."""
    whens = (When(condition, then=Value(str(state))) for state, condition in conditions.items())
    return Case(*whens, output_field=TextField())


@dataclass(frozen=True)
class Condition:
    """What rows have to meet: an index finds those that meet `indexed`; each one is tested for `other`."""

    indexed: Q
    other: Q


def of_jobs(
    values: RunFilter, offices: Collection[UUID] | None, *, by_office: bool = False
) -> Condition | None:
    """The condition on jobs, among these offices (None: all); None if no job can match.

    `by_office`: of one office at a time.
    """
    if values.schedule or (values.trigger and values.trigger not in TRIGGERS_OF_JOBS):
        return None
    indexed = _jobs_in_states(values.states, by_office)
    if values.batch:
        indexed &= Q(batch_id=values.batch)
    other = _condition(values, JOB_STATES, JOB_LOOKUPS)
    if identity := parse_uuid(values.q):
        jobs = [
            identity,
            *Execution.objects.filter(pk=identity, job__isnull=False).values_list("job", flat=True),
        ]
        indexed &= Q(pk__in=jobs) | Q(batch_id=identity)
    elif values.q:
        other &= _text_of_jobs(values.q, offices)
    return Condition(indexed, other)


def of_executions(values: RunFilter) -> Condition | None:
    """The condition on Executions without a job; None if none can match."""
    if values.office or values.batch or values.trigger in TRIGGERS_OF_JOBS:
        return None
    indexed = _executions_in_states(values.states)
    if values.schedule:
        indexed &= of_schedule(values.schedule)
    other = _condition(values, EXECUTION_STATES, EXECUTION_LOOKUPS)
    if identity := parse_uuid(values.q):
        indexed &= Q(pk=identity)
    elif values.q:
        other &= text_condition(values.q, "task_id", "error")
    return Condition(indexed, other)


def _jobs_in_states(states: Collection[str], by_office: bool) -> Q:
    """The condition of partial indexes: on those that ended badly, or on those that have not ended."""
    if _are_failures(states):
        condition = Q(status__in=(JobStatus.FAILED, JobStatus.CANCELLED))
        # No job has the empty state: it keeps PostgreSQL from reading the whole index of all offices.
        of_office = Q(status__in=(JobStatus.FAILED, JobStatus.CANCELLED, ""), completed_at__isnull=False)
        return of_office if by_office else condition
    if _are_live(states):
        return in_states({status for state in states for status in _LIVE_JOBS[RunState(state)]})
    return Q()


def _executions_in_states(states: Collection[str]) -> Q:
    if _are_failures(states):
        return Q(status__in=(ExecutionStatus.FAILED, ExecutionStatus.CANCELLED))
    if _are_live(states):
        return _any_of(EXECUTION_STATES[state] for state in states) & Q(job__isnull=True)
    return Q()


def _any_of(conditions: Iterable[Q]) -> Q:
    return reduce(or_, conditions)


def _are_failures(states: Collection[str]) -> bool:
    return bool(states) and ENDED_BADLY.issuperset(states)


def _are_live(states: Collection[str]) -> bool:
    return bool(states) and set(states).isdisjoint(ENDED)


def _condition(values: RunFilter, states: Mapping[str, Q], lookups: Mapping[str, str]) -> Q:
    """What the filters that are set say about these states and columns."""
    columns = {lookup: value for name, lookup in lookups.items() if (value := getattr(values, name))}
    of_states = _any_of(states[state] for state in values.states) if values.states else Q()
    return of_states & Q(**columns)


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
    return condition
