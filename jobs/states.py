"""Every state there is and every way between them, written once.

The API, the admin, the documentation and the database's own checks derive from this module.
"""

from typing import Final

from django.db import models


class JobStatus(models.TextChoices):
    """A job of an office, on its way.

    PENDING waits for its dependencies, for `run_at` or for its retry. READY waits for a slot.
    PROCESSING holds a slot, from the moment it is sent to a worker until its run has ended.
    TIMEOUT is a PENDING whose last attempt timed out. DONE, FAILED and CANCELLED are ends; only a
    retry by hand leads out of the last two.
    """

    PENDING = "pending"
    READY = "ready"
    PROCESSING = "processing"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"


J = JobStatus
JOB_ENDED: Final = (J.DONE, J.FAILED, J.CANCELLED)
JOB_LIVE: Final = (J.PENDING, J.TIMEOUT, J.READY, J.PROCESSING)
JOB_WAITING: Final = (J.PENDING, J.TIMEOUT)
JOB_RETRYABLE: Final = (J.FAILED, J.CANCELLED, J.TIMEOUT)
JOB_TRANSITIONS: Final[dict[JobStatus, tuple[JobStatus, ...]]] = {
    J.PENDING: (J.READY, J.FAILED, J.CANCELLED),
    J.TIMEOUT: (J.READY, J.FAILED, J.CANCELLED),
    J.READY: (J.PROCESSING, J.CANCELLED),
    J.PROCESSING: (J.DONE, J.FAILED, J.CANCELLED, J.PENDING, J.TIMEOUT),
    J.DONE: (),
    J.FAILED: (J.PENDING, J.READY),
    J.CANCELLED: (J.PENDING, J.READY),
}


class ExecutionStatus(models.TextChoices):
    """One run of a Task; its automatic retries reuse it.

    PENDING waits: to be sent, in a queue, or for its next attempt. RUNNING is owned by one worker,
    under a lease. SUCCESS, FAILED and CANCELLED are for ever.
    """

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


E = ExecutionStatus
EXECUTION_ENDED: Final = (E.SUCCESS, E.FAILED, E.CANCELLED)
EXECUTION_LIVE: Final = (E.PENDING, E.RUNNING)
EXECUTION_TRANSITIONS: Final[dict[ExecutionStatus, tuple[ExecutionStatus, ...]]] = {
    E.PENDING: (E.RUNNING, E.FAILED, E.CANCELLED),
    E.RUNNING: (E.SUCCESS, E.FAILED, E.CANCELLED, E.PENDING),
    E.SUCCESS: (),
    E.FAILED: (),
    E.CANCELLED: (),
}


class Trigger(models.TextChoices):
    """What caused an Execution."""

    JOB = "JOB"
    SCHEDULE = "SCHEDULE"
    MANUAL = "MANUAL"
    WORKFLOW = "WORKFLOW"
    STEP = "STEP"
    EXPORT = "EXPORT"


TRIGGERS_OF_JOBS: Final = (Trigger.JOB, Trigger.WORKFLOW)


class Outcome(models.TextChoices):
    """How one attempt ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    LOST = "lost"


class FailureType(models.TextChoices):
    """Why a run failed, as far as it decides what happens next."""

    TIMEOUT = "timeout"
    SESSION_ERROR = "session_error"
    WORKER_LOST = "worker_lost"
    ERROR = "error"
    GIT_CONFLICT = "git_conflict"
    PERMISSION_ERROR = "permission_error"
    DEPENDENCY_FAILED = "dependency_failed"
    INVALID_ARGS = "invalid_args"
    CANCELLED = "cancelled"
    POISON = "poison"


F = FailureType
RETRYABLE: Final = (F.TIMEOUT, F.SESSION_ERROR, F.WORKER_LOST, F.ERROR)


class OnDependencyFailure(models.TextChoices):
    """What a job does when one of its dependencies fails or is cancelled."""

    BLOCK = "block"
    FAIL = "fail"
    RUN = "run"


class OnLost(models.TextChoices):
    """What becomes of an Execution whose worker died in the middle of it."""

    RETRY = "retry"
    FAIL = "fail"


class Backoff(models.TextChoices):
    LINEAR = "linear"
    EXPONENTIAL = "exponential"


class EventType(models.TextChoices):
    JOB_READY = "job_ready"
    JOB_STARTED = "job_started"
    JOB_COMPLETED = "job_completed"
    JOB_FAILED = "job_failed"
    JOB_TIMEOUT = "job_timeout"
    JOB_RETRYING = "job_retrying"
    JOB_CANCELLED = "job_cancelled"
    BATCH_COMPLETED = "batch_completed"
    # For those who operate: the record of who changed an order, and why. Clients are not told of it.
    JOB_REPRIORITISED = "job_reprioritised"


TOLD_TO_CLIENTS: Final = tuple(type for type in EventType.values if type != EventType.JOB_REPRIORITISED)


class MemberRole(models.TextChoices):
    """What a member of an office may do: a viewer sees, an operator acts, an owner also configures."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    OWNER = "owner"


# How the API of seed 000 calls the states of an Execution.
SEED_EXECUTION_STATUS: Final[dict[str, str]] = {
    E.PENDING: "running",
    E.RUNNING: "running",
    E.SUCCESS: "completed",
    E.FAILED: "failed",
    E.CANCELLED: "cancelled",
}
SEED_EXECUTION_TIMED_OUT: Final = "timeout"
