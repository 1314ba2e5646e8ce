"""Jobs, Executions, attempts and events as the v1 contract has them, and what reads their rows."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.db.models import QuerySet
from pydantic import AliasPath, Field, WithJsonSchema

from dure.failures import FailureType
from jobs.api_model import EMPTY_IS_NONE, JSON, AnyOf, ApiOut, TextOrNone, Time, iso_time
from jobs.display import REMEDIES
from jobs.errors import in_english
from jobs.models import Event, Execution, Job
from jobs.sql import call, reports
from jobs.states import (
    CLIENT_EVENTS,
    FAILURE_TYPES,
    V1_EXECUTION_STATUS,
    V1_EXECUTION_TIMED_OUT,
    EventType,
    ExecutionStatus,
    JobStatus,
    OnDependencyFailure,
    Outcome,
)
from jobs.submission import PreparedSubmission

EXECUTION_STATUSES = [
    (status, status) for status in (*dict.fromkeys(V1_EXECUTION_STATUS.values()), V1_EXECUTION_TIMED_OUT)
]
# Ids that are text already: a submission may have a hundred thousand.
UuidText = Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]
FailureOrNone = Annotated[Annotated[str, AnyOf(FAILURE_TYPES)] | None, EMPTY_IS_NONE]

# An Execution has a copy of the job's args, and other columns that the answer does not need.
_EXECUTION_FIELDS = ("status", "started_at", "result", "progress", "session_id")


class ProgressOut(ApiOut):
    fraction: (
        Annotated[int | float, WithJsonSchema({"type": "number", "maximum": 1, "minimum": 0})] | None
    ) = Field(description="From 0 to 1; null if unknown.")
    message: str = Field(description="A message from the Task.")


class JobOut(ApiOut):
    id: UUID
    ref: TextOrNone = Field(description="The name within its submission.")
    office_id: UUID
    batch: UUID | None = Field(
        validation_alias="batch_id", description="Null for a job submitted on its own."
    )
    task_id: str
    args: dict[str, Any]
    role: str = Field(description="The role whose workers run it.")
    priority: int = Field(description="Lower runs earlier.")
    urgent: bool = Field(description="Runs before all jobs that are not urgent.")
    status: Annotated[str, AnyOf(JobStatus.choices)]
    depends_on: list[UuidText] = Field(description="In submission order.")
    on_dependency_failure: Annotated[str, AnyOf(OnDependencyFailure.choices)] = Field(
        description="Whether the job then waits, fails as well, or runs anyway."
    )
    timeout_ms: int = Field(description="Time limit of an attempt.")
    queue_timeout_ms: int | None = Field(description="How long it may wait after it became ready.")
    max_retries: int
    retry_count: int = Field(description="Retries so far.")
    retry_at: Time | None = Field(description="Time of the next retry.")
    run_at: Time | None = Field(description="Earliest start.")
    created_at: Time
    queued_at: Time | None = Field(validation_alias="ready_at", description="When it last became ready.")
    started_at: Time | None = Field(
        validation_alias="claimed_at",
        description="When a worker first claimed it; null while it waits for one.",
    )
    completed_at: Time | None
    cancelled_at: Time | None = Field(description="On a job that is still processing: asked to stop.")
    failure_type: FailureOrNone = Field(description="From the last attempt.")
    error_message: TextOrNone = Field(description="From the last attempt.")
    result: Any = Field(
        None, validation_alias=AliasPath("execution", "result"), description="What the Task returned."
    )
    progress: ProgressOut | None = Field(None, validation_alias=AliasPath("execution", "progress"))
    session_id: TextOrNone = Field(
        None,
        validation_alias=AliasPath("execution", "session_id"),
        description="The session id that the Task recorded.",
    )
    unique_key: TextOrNone = Field(description="Unique among the unfinished jobs of the office.")


# The columns that a JobOut reads. `claimed_at` reads the time of the start; lists are in the order of `seq`.
_READ = [field.validation_alias or name for name, field in JobOut.model_fields.items()]
_JOB_COLUMNS = {
    "seq",
    "started_at",
    *(each.attname for each in Job._meta.concrete_fields if each.attname in _READ),
}


class AttemptOut(ApiOut):
    number: int
    started_at: Time
    timeout_at: Time = Field(description="When its time limit ends.")
    ended_at: Time | None = Field(description="Null while it runs.")
    outcome: Annotated[str, AnyOf(Outcome.choices)] | None
    failure_type: FailureOrNone
    error_message: TextOrNone = Field(validation_alias="error")
    traceback: TextOrNone = Field(description="The frames of the Task's own code.")
    worker: TextOrNone
    session_id: TextOrNone = Field(description="The session that the Task recorded.")


class JobExecutionOut(ApiOut):
    id: UUID
    attempt: int = Field(description="Number of the attempt, from 1; 0 before the first one.")
    status: Annotated[str, AnyOf(EXECUTION_STATUSES)]
    started_at: Time | None
    timeout_at: Time | None = Field(description="The attempt is stopped at this time.")
    completed_at: Time | None = Field(validation_alias="finished_at")
    session_id: TextOrNone
    error_message: TextOrNone = Field(validation_alias="error")
    worker: TextOrNone
    attempts: list[AttemptOut]


class JobInFullOut(JobOut):
    executions: list[JobExecutionOut]


class SchedulerEventOut(ApiOut):
    id: int
    type: Annotated[str, AnyOf(CLIENT_EVENTS)]
    job_id: UUID | None = Field(description="Null for an event of a whole batch.")
    batch_id: UUID | None
    office_id: UUID
    details: JSON = Field(description="Further data; the keys depend on the type.")
    timestamp: Time = Field(validation_alias="at")


def with_job_fields(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """The jobs with all columns of a JobOut, in one statement."""
    execution_fields = (f"execution__{name}" for name in _EXECUTION_FIELDS)
    return jobs.select_related("execution").only(*_JOB_COLUMNS, *execution_fields)


def jobs_json(jobs: Sequence[Job], dependencies: Mapping[str, list[str]] | None = None) -> list[JSON]:
    add_dependencies(jobs, dependencies)
    return [JobOut.write(job) for job in jobs]


def add_dependencies(jobs: Sequence[Job], dependencies: Mapping[str, list[str]] | None = None) -> None:
    if dependencies is None:
        dependencies = dependencies_of([job.id for job in jobs])
    for job in jobs:
        job.depends_on = dependencies.get(str(job.id), ())


def dependencies_of(ids: Sequence[UUID]) -> dict[str, list[str]]:
    """The ids that each job depends on, in the order of the submission."""
    rows = call.rows(reports.PARENTS_OF_JOBS, {"jobs": list(ids)})
    return {child: parents.split() for child, parents in rows}


# What the data of a submission lacks of a job that has not started.
_NOT_STARTED: Mapping[str, Any] = dict.fromkeys(
    ("retry_at", "claimed_at", "completed_at", "cancelled_at", "failure_type", "error_message")
)


def new_job_json(
    submission: PreparedSubmission,
    fields: JSON,
    status: str,
    created_at: datetime,
    ready_at: datetime | None,
    depends_on: list[str],
) -> JSON:
    """A job that has not started since its submission, from the submission's own data."""
    return JobOut.write(
        {
            **_NOT_STARTED,
            **fields,
            "office_id": submission.office,
            "batch_id": submission.batch,
            "status": status,
            "depends_on": depends_on,
            "retry_count": 0,
            "run_at": datetime.fromisoformat(fields["run_at"]) if fields["run_at"] else None,
            "created_at": created_at,
            "ready_at": ready_at,
        }
    )


def job_detail_json(job: Job) -> JSON:
    """A job with its Executions, the oldest first, and their attempts."""
    executions = job.executions.order_by("created_at", "id").prefetch_related("attempts")
    add_dependencies([job])
    return JobInFullOut.write(job, executions=[_execution(run) for run in executions])


def _execution(run: Execution) -> JobExecutionOut:
    attempts = [AttemptOut.of(attempt) for attempt in run.attempts.all()]
    values: JSON = {"status": execution_status(run), "attempts": attempts}
    if run.status == ExecutionStatus.RUNNING:
        values["error"] = None
        # The row of an attempt is written when it ends.
        not_ended = dict.fromkeys(("ended_at", "outcome", "failure_type", "error", "traceback"))
        attempts.append(
            AttemptOut.of(run, number=run.attempt, started_at=run.attempt_started_at, **not_ended)
        )
    return JobExecutionOut.of(run, **values)


def execution_status(run: Execution) -> str:
    """The status in the v1 contract; while waiting for a retry, how the last attempt ended."""
    waits = run.status == ExecutionStatus.PENDING and run.due_at is not None and run.attempt > 0
    status = ExecutionStatus.FAILED if waits else run.status
    if status == ExecutionStatus.FAILED and run.failure_type == FailureType.TIMEOUT:
        return V1_EXECUTION_TIMED_OUT
    return V1_EXECUTION_STATUS[status]


def event_of(event: Event) -> SchedulerEventOut:
    """The v1 contract's SchedulerEvent, with the id to resume after."""
    return SchedulerEventOut.of(event, details=_event_details(event))


def event_json(event: Event) -> JSON:
    return event_of(event).dump()


def _event_details(event: Event) -> JSON:
    """With what to do about a final failure. The database writes the time of the next attempt in UTC."""
    details = dict(event.details)
    if retry_at := details.get("retry_at"):
        details["retry_at"] = iso_time(datetime.fromisoformat(retry_at))
    remedy = REMEDIES.get(details.get("failure_type", ""))
    if event.type == EventType.JOB_FAILED and remedy:
        details["remedy"] = in_english(remedy)
    return details
