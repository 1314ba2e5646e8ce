"""What a job, its Executions and an event look like as JSON.

Plain functions: a submission's answer has ten thousand jobs, which serializers would take seconds for.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from jobs.models import Attempt, Event, Execution, Job
from jobs.sql import call, reports
from jobs.states import (
    SEED_EXECUTION_STATUS,
    SEED_EXECUTION_TIMED_OUT,
    ExecutionStatus,
    FailureType,
    JobStatus,
)
from jobs.submission import Prepared

JSON = dict[str, Any]

# An Execution has a copy of the job's args, and more that the answer does not show.
_SHOWN_OF_JOB = [
    *("seq", "id", "ref", "office_id", "batch_id", "task_id", "args", "role", "priority", "urgent", "status"),
    *(
        "on_dependency_failure",
        "timeout_ms",
        "max_retries",
        "retry_count",
        "retry_at",
        "run_at",
        "created_at",
    ),
    *("started_at", "completed_at", "cancelled_at", "failure_type", "error_message", "unique_key"),
]
_SHOWN_OF_EXECUTION = ["status", "started_at", "result", "progress", "session_id"]


def iso_time(value: datetime | None) -> str | None:
    """ISO 8601, with the offset of the settings' time zone."""
    return None if value is None else timezone.localtime(value).isoformat()


def with_job_fields(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """The jobs with all that `job` reads, in one statement."""
    of_execution = (f"execution__{name}" for name in _SHOWN_OF_EXECUTION)
    return jobs.select_related("execution").only(*_SHOWN_OF_JOB, *of_execution)


def jobs_json(found: Sequence[Job], parents: Mapping[str, list[str]] | None = None) -> list[JSON]:
    known = dependencies_of([one.id for one in found]) if parents is None else parents
    return [job_json(one, known.get(str(one.id), [])) for one in found]


def dependencies_of(ids: Sequence[UUID]) -> dict[str, list[str]]:
    """The ids of what each job depends on, in the order given at submission."""
    rows = call.rows(reports.PARENTS_OF_JOBS, {"jobs": list(ids)})
    return {child: parents.split() for child, parents in rows}


def job_json(one: Job, depends_on: list[str]) -> JSON:
    run = one.execution
    started_at = one.started_at
    # While a job runs for the first time, only its Execution knows since when.
    if started_at is None and one.status == JobStatus.PROCESSING and run is not None:
        started_at = run.started_at
    return {
        "id": str(one.id),
        "ref": one.ref or None,
        "office_id": str(one.office_id),
        "batch": str(one.batch_id) if one.batch_id else None,
        "task_id": one.task_id,
        "args": one.args,
        "role": one.role,
        "priority": one.priority,
        "urgent": one.urgent,
        "status": one.status,
        "depends_on": depends_on,
        "on_dependency_failure": one.on_dependency_failure,
        "timeout_ms": one.timeout_ms,
        "max_retries": one.max_retries,
        "retry_count": one.retry_count,
        "retry_at": iso_time(one.retry_at),
        "run_at": iso_time(one.run_at),
        "created_at": iso_time(one.created_at),
        "started_at": iso_time(started_at),
        "completed_at": iso_time(one.completed_at),
        "cancelled_at": iso_time(one.cancelled_at),
        "failure_type": one.failure_type or None,
        "error_message": one.error_message or None,
        "result": run.result if run is not None else None,
        "progress": run.progress if run is not None else None,
        "session_id": (run.session_id or None) if run is not None else None,
        "unique_key": one.unique_key or None,
    }


def new_job_json(
    submission: Prepared, given: JSON, status: str, created_at: datetime, depends_on: list[str]
) -> JSON:
    """A job that was submitted and has only waited since: the same as `job`, without its row."""
    return {
        "id": str(given["id"]),
        "ref": given["ref"] or None,
        "office_id": str(submission.office),
        "batch": str(submission.batch) if submission.batch else None,
        "task_id": given["task_id"],
        "args": given["args"],
        "role": given["role"],
        "priority": given["priority"],
        "urgent": given["urgent"],
        "status": status,
        "depends_on": depends_on,
        "on_dependency_failure": given["on_dependency_failure"],
        "timeout_ms": given["timeout_ms"],
        "max_retries": given["max_retries"],
        "retry_count": 0,
        "retry_at": None,
        "run_at": iso_time(datetime.fromisoformat(given["run_at"])) if given["run_at"] else None,
        "created_at": iso_time(created_at),
        "started_at": None,
        "completed_at": None,
        "cancelled_at": None,
        "failure_type": None,
        "error_message": None,
        "result": None,
        "progress": None,
        "session_id": None,
        "unique_key": given["unique_key"] or None,
    }


def job_detail_json(one: Job) -> JSON:
    """A job with its Executions, the oldest first, and their attempts."""
    runs = one.executions.order_by("created_at", "id").prefetch_related("attempts")
    answer = job_json(one, dependencies_of([one.id]).get(str(one.id), []))
    answer["executions"] = [execution_json(run) for run in runs]
    return answer


def execution_json(run: Execution) -> JSON:
    running = run.status == ExecutionStatus.RUNNING
    attempts = [attempt_json(one) for one in run.attempts.all()]
    if running:
        # The row of an attempt is written when it ends.
        attempts.append(
            {
                "number": run.attempt,
                "started_at": iso_time(run.attempt_started_at),
                "ended_at": None,
                "outcome": None,
                "failure_type": None,
                "error_message": None,
                "worker": run.worker,
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
    """In the seed's words. One that waits for its next attempt shows how its last one ended."""
    waits = run.status == ExecutionStatus.PENDING and run.attempt > 0 and run.dispatched_at is None
    status = ExecutionStatus.FAILED if waits else run.status
    if status == ExecutionStatus.FAILED and run.failure_type == FailureType.TIMEOUT:
        return SEED_EXECUTION_TIMED_OUT
    return SEED_EXECUTION_STATUS[status]


def attempt_json(one: Attempt) -> JSON:
    return {
        "number": one.number,
        "started_at": iso_time(one.started_at),
        "ended_at": iso_time(one.ended_at),
        "outcome": one.outcome,
        "failure_type": one.failure_type or None,
        "error_message": one.error or None,
        "worker": one.worker or None,
    }


def event_json(one: Event) -> JSON:
    """The seed's SchedulerEvent, with the id to resume after."""
    return {
        "id": one.id,
        "type": one.type,
        "job_id": str(one.job_id) if one.job_id else None,
        "batch_id": str(one.batch_id) if one.batch_id else None,
        "office_id": str(one.office_id),
        "details": one.details,
        "timestamp": iso_time(one.at),
    }
