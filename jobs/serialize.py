"""What writes jobs, Executions and events as jobs/schemas.py describes them, and reads their rows."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from dure.failures import FailureType
from jobs import queries
from jobs.api_model import JSON, iso_time
from jobs.display import REMEDIES
from jobs.errors import in_english
from jobs.models import Event, Execution, Job
from jobs.schemas import JobExecutionOut, JobInFullOut, JobOut, SchedulerEventOut
from jobs.sql import call, reports
from jobs.states import V1_EXECUTION_STATUS, V1_EXECUTION_TIMED_OUT, EventType, ExecutionStatus
from jobs.submission import PreparedSubmission

# The columns that a JobOut reads. `claimed_at` reads the time of the start; lists are in the order of `seq`.
_READ = [field.validation_alias or name for name, field in JobOut.model_fields.items()]
_JOB_COLUMNS = {
    "seq",
    "started_at",
    *(each.attname for each in Job._meta.concrete_fields if each.attname in _READ),
}
# An Execution has a copy of the job's args, and other columns that the answer does not need.
_EXECUTION_FIELDS = ("status", "started_at", "result", "progress", "session_id")


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
    add_dependencies([job])
    return JobInFullOut.write(job, executions=[_execution(run) for run in queries.executions_of(job)])


def _execution(run: Execution) -> JobExecutionOut:
    return JobExecutionOut.of(
        run,
        status=execution_status(run),
        error=None if run.status == ExecutionStatus.RUNNING else run.error,
        attempts=queries.all_attempts(run),
    )


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
