"""Runs a job or a run without a job once more, with the same or with other arguments."""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from jobs import lifecycle, submission
from jobs.models import Execution, Job
from jobs.states import Trigger
from scheduler.manual_runs import run_task

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


def run_copy(run: Execution, args: dict[str, Any], user: User) -> UUID:
    """Run the Task by hand with these arguments. Raises Conflict while it runs for the user."""
    return run_task(run.task_id, args, owner_id=user.pk)
