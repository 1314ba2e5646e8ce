"""Jobs, Executions, attempts and events as JSON, in the form of the v1 contract.

Plain functions instead of serializers: the answer to a submission holds up to ten thousand jobs.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from jobs.display import REMEDIES
from jobs.errors import in_english
from jobs.models import Attempt, Event, Execution, Job
from jobs.sql import call, reports
from jobs.states import (
    V1_EXECUTION_STATUS,
    V1_EXECUTION_TIMED_OUT,
    EventType,
    ExecutionStatus,
    FailureType,
    JobStatus,
)
from jobs.submission import Prepared

JSON = dict[str, Any]

# An Execution has a copy of the job's args, and other columns that the answer does not need.
_JOB_FIELDS = (
    *("seq", "id", "ref", "office_id", "batch_id", "task_id", "args", "role", "priority", "urgent", "status"),
    *("on_dependency_failure", "timeout_ms", "queue_timeout_ms", "max_retries", "retry_count", "retry_at"),
    *("run_at", "created_at", "ready_at", "started_at", "completed_at", "cancelled_at", "failure_type"),
    *("error_message", "unique_key"),
)
_EXECUTION_FIELDS = ("status", "started_at", "result", "progress", "session_id")


def iso_time(value: datetime | None) -> str | None:
    """ISO 8601, with the offset of the time zone in the settings."""
    return None if value is None else _iso_time(value, timezone.get_current_timezone())


# The jobs of a submission were all created at one time, and ready at another.
@lru_cache(maxsize=2)
def _iso_time(value: datetime, zone: tzinfo) -> str:
    return timezone.localtime(value, zone).isoformat()


def with_job_fields(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """The jobs with all columns that `job_json` reads, in one statement."""
    execution_fields = (f"execution__{name}" for name in _EXECUTION_FIELDS)
    return jobs.select_related("execution").only(*_JOB_FIELDS, *execution_fields)


def jobs_json(jobs: Sequence[Job], dependencies: Mapping[str, list[str]] | None = None) -> list[JSON]:
    if dependencies is None:
        dependencies = dependencies_of([job.id for job in jobs])
    return [job_json(job, dependencies.get(str(job.id), [])) for job in jobs]


def dependencies_of(ids: Sequence[UUID]) -> dict[str, list[str]]:
    """The ids that each job depends on, in the order of the submission."""
    rows = call.rows(reports.PARENTS_OF_JOBS, {"jobs": list(ids)})
    return {child: parents.split() for child, parents in rows}


def job_json(job: Any, depends_on: list[str]) -> JSON:
    """`job` is a Job, or has its attributes."""
    execution = job.execution
    started_at = job.started_at
    # During a job's first run, only its Execution has the start time.
    if started_at is None and job.status == JobStatus.PROCESSING and execution is not None:
        started_at = execution.started_at
    return {
        "id": str(job.id),
        "ref": job.ref or None,
        "office_id": str(job.office_id),
        "batch": str(job.batch_id) if job.batch_id else None,
        "task_id": job.task_id,
        "args": job.args,
        "role": job.role,
        "priority": job.priority,
        "urgent": job.urgent,
        "status": job.status,
        "depends_on": depends_on,
        "on_dependency_failure": job.on_dependency_failure,
        "timeout_ms": job.timeout_ms,
        "queue_timeout_ms": job.queue_timeout_ms,
        "max_retries": job.max_retries,
        "retry_count": job.retry_count,
        "retry_at": iso_time(job.retry_at),
        "run_at": iso_time(job.run_at),
        "created_at": iso_time(job.created_at),
        "queued_at": iso_time(job.ready_at),
        "started_at": iso_time(started_at),
        "completed_at": iso_time(job.completed_at),
        "cancelled_at": iso_time(job.cancelled_at),
        "failure_type": job.failure_type or None,
        "error_message": job.error_message or None,
        "result": execution.result if execution is not None else None,
        "progress": execution.progress if execution is not None else None,
        "session_id": (execution.session_id or None) if execution is not None else None,
        "unique_key": job.unique_key or None,
    }


class _NewJob:
    """The attributes that `job_json` reads, of a job that has not started."""

    retry_count = 0
    retry_at = started_at = completed_at = cancelled_at = failure_type = error_message = execution = None

    def __init__(self, fields: JSON) -> None:
        vars(self).update(fields)


def new_job_json(
    submission: Prepared,
    fields: JSON,
    status: str,
    created_at: datetime,
    ready_at: datetime | None,
    depends_on: list[str],
) -> JSON:
    """A job that has not started since its submission, from the submission's own data."""
    job: Any = _NewJob(fields)
    job.office_id, job.batch_id = submission.office, submission.batch
    job.status, job.created_at, job.ready_at = status, created_at, ready_at
    job.run_at = datetime.fromisoformat(fields["run_at"]) if fields["run_at"] else None
    return job_json(job, depends_on)


def job_detail_json(job: Job) -> JSON:
    """A job with its Executions, the oldest first, and their attempts."""
    executions = job.executions.order_by("created_at", "id").prefetch_related("attempts")
    answer = job_json(job, dependencies_of([job.id]).get(str(job.id), []))
    answer["executions"] = [execution_json(execution) for execution in executions]
    return answer


def execution_json(run: Execution) -> JSON:
    running = run.status == ExecutionStatus.RUNNING
    attempts = [attempt_json(attempt) for attempt in run.attempts.all()]
    if running:
        # The row of an attempt is written when it ends.
        attempts.append(
            {
                "number": run.attempt,
                "started_at": iso_time(run.attempt_started_at),
                "timeout_at": iso_time(run.timeout_at),
                "ended_at": None,
                "outcome": None,
                "failure_type": None,
                "error_message": None,
                "traceback": None,
                "worker": run.worker,
                "session_id": run.session_id or None,
            }
        )
    return {
        "id": str(run.id),
        "attempt": run.attempt,
        "status": execution_status(run),
        "started_at": iso_time(run.started_at),
        "timeout_at": iso_time(run.timeout_at),
        "completed_at": iso_time(run.finished_at),
        "session_id": run.session_id or None,
        "error_message": None if running else (run.error or None),
        "worker": run.worker or None,
        "attempts": attempts,
    }


def execution_status(run: Execution) -> str:
    """The status in the v1 contract; while waiting for a retry, how the last attempt ended."""
    waits = run.status == ExecutionStatus.PENDING and run.due_at is not None
    status = ExecutionStatus.FAILED if waits else run.status
    if status == ExecutionStatus.FAILED and run.failure_type == FailureType.TIMEOUT:
        return V1_EXECUTION_TIMED_OUT
    return V1_EXECUTION_STATUS[status]


def attempt_json(attempt: Attempt) -> JSON:
    return {
        "number": attempt.number,
        "started_at": iso_time(attempt.started_at),
        "timeout_at": iso_time(attempt.timeout_at),
        "ended_at": iso_time(attempt.ended_at),
        "outcome": attempt.outcome,
        "failure_type": attempt.failure_type or None,
        "error_message": attempt.error or None,
        "traceback": attempt.traceback or None,
        "worker": attempt.worker or None,
        "session_id": attempt.session_id or None,
    }


def event_json(event: Event) -> JSON:
    """The v1 contract's SchedulerEvent, with the id to resume after."""
    return {
        "id": event.id,
        "type": event.type,
        "job_id": str(event.job_id) if event.job_id else None,
        "batch_id": str(event.batch_id) if event.batch_id else None,
        "office_id": str(event.office_id),
        "details": _event_details(event),
        "timestamp": iso_time(event.at),
    }


def _event_details(event: Event) -> JSON:
    """With what to do about a final failure. The database writes the time of the next attempt in UTC."""
    details = dict(event.details)
    if retry_at := details.get("retry_at"):
        details["retry_at"] = iso_time(datetime.fromisoformat(retry_at))
    remedy = REMEDIES.get(details.get("failure_type", ""))
    if event.type == EventType.JOB_FAILED and remedy:
        details["remedy"] = in_english(remedy)
    return details
