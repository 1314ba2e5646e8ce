"""What may be run once more by itself, and a copy of a job with other arguments."""

from typing import Any
from uuid import UUID

from jobs import lifecycle, submission
from jobs.models import Job
from jobs.states import Trigger

# What starts a run that may be repeated by itself. A step belongs to its queue, a video to its export.
REPEATABLE = (Trigger.SCHEDULE, Trigger.MANUAL)


def submit_copy(job: Job, args: dict[str, Any]) -> UUID:
    """Submit a new job of its office like this one, without its dependencies."""
    copy = {
        "task_id": job.task_id,
        "args": args,
        "role": job.role,
        "priority": job.priority,
        "urgent": job.urgent,
        "timeout_ms": job.timeout_ms,
        "max_retries": job.max_retries,
        "retry_backoff": job.retry_backoff,
        "retry_base_delay": job.retry_base_delay_ms,
    }
    if job.ref:
        copy["ref"] = job.ref
    (identity,) = lifecycle.submit(submission.read(job.office, copy))
    return identity
