"""Every state.

The models, the API, the pages and the admin take their choices from here. engine.sql repeats the values, and
`tests/unit/test_states.py` checks that it names no others.
"""

from typing import Final

from django.db import models

from dure.failures import FailureType


class JobStatus(models.TextChoices):
    """The state of a job.

    PENDING waits for its dependencies, for `run_at` or for its retry. READY waits for a slot, and for a
    worker of its role. PROCESSING holds a slot, from the moment it is sent to a worker until its run has
    ended; it is READY again if no worker claims it.
    TIMEOUT is a PENDING whose last attempt timed out. DONE, FAILED and CANCELLED are final, except
    that a retry by hand leads out of the last two.
    """

    PENDING = "pending"
    READY = "ready"
    PROCESSING = "processing"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"


JOB_ENDED: Final = (JobStatus.DONE, JobStatus.FAILED, JobStatus.CANCELLED)
JOB_LIVE: Final = (JobStatus.PENDING, JobStatus.TIMEOUT, JobStatus.READY, JobStatus.PROCESSING)
JOB_WAITING: Final = (JobStatus.PENDING, JobStatus.TIMEOUT)
# Ready to run, or sent to a worker; the latter may run by now.
JOB_QUEUED: Final = (JobStatus.READY, JobStatus.PROCESSING)
JOB_RETRYABLE: Final = (JobStatus.FAILED, JobStatus.CANCELLED, JobStatus.TIMEOUT)


class ExecutionStatus(models.TextChoices):
    """One run of a Task; its automatic retries reuse it.

    PENDING waits: to be sent, in a queue, or for its next attempt. RUNNING is owned by one worker,
    under a lease. SUCCESS, FAILED and CANCELLED are final.
    """

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


EXECUTION_ENDED: Final = (ExecutionStatus.SUCCESS, ExecutionStatus.FAILED, ExecutionStatus.CANCELLED)
EXECUTION_LIVE: Final = (ExecutionStatus.PENDING, ExecutionStatus.RUNNING)


class Trigger(models.TextChoices):
    """The cause of an Execution."""

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


# As the choices of a field; jobs/display.py has the names that people see.
FAILURE_TYPES: Final = [(kind.value, kind.name.replace("_", " ").title()) for kind in FailureType]


class OnDependencyFailure(models.TextChoices):
    """The effect on a job when one of its dependencies fails or is cancelled."""

    BLOCK = "block"
    FAIL = "fail"
    RUN = "run"


class OnLost(models.TextChoices):
    """The effect of a worker's death on its Execution."""

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
    WORKFLOW_RUN_FAILED = "workflow_run_failed"
    SCHEDULE_FAILING = "schedule_failing"
    SCHEDULE_RECOVERED = "schedule_recovered"
    # These record who changed an order or cancelled a running job, and why, for operators. Clients do not
    # receive them.
    JOB_REPRIORITISED = "job_reprioritised"
    JOB_CANCEL_REQUESTED = "job_cancel_requested"


OPERATORS_EVENTS: Final = (EventType.JOB_REPRIORITISED, EventType.JOB_CANCEL_REQUESTED)
CLIENT_EVENTS: Final = tuple(type for type in EventType.values if type not in OPERATORS_EVENTS)


# The failures that need a person: listed as alerts on the pages, and sent to new webhooks by default.
ALERT_EVENTS: Final = (EventType.JOB_FAILED, EventType.WORKFLOW_RUN_FAILED, EventType.SCHEDULE_FAILING)


class WebhookFormat(models.TextChoices):
    """What a webhook sends: signed events for programs, or messages for the people of a chat."""

    DURE = "dure"
    SLACK = "slack"
    DISCORD = "discord"
    TEAMS = "teams"


class MemberRole(models.TextChoices):
    """The role of a member in an office: a viewer sees, an operator acts, an owner also configures."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    OWNER = "owner"


class Surface(models.TextChoices):
    """Where a user acts."""

    PAGE = "page"
    API = "api"
    ADMIN = "admin"
    COMMAND = "command"


class Act(models.TextChoices):
    """What people do. Their acts on single jobs are events."""

    OFFICE_CREATED = "office_created"
    OFFICE_CHANGED = "office_changed"
    OFFICE_PAUSED = "office_paused"
    OFFICE_RESUMED = "office_resumed"
    LIMITS_CHANGED = "limits_changed"
    MEMBER_ADDED = "member_added"
    MEMBER_CHANGED = "member_changed"
    MEMBER_REMOVED = "member_removed"
    WEBHOOK_CREATED = "webhook_created"
    WEBHOOK_CHANGED = "webhook_changed"
    WEBHOOK_ROTATED = "webhook_rotated"
    WEBHOOK_DELETED = "webhook_deleted"
    WEBHOOK_RESTORED = "webhook_restored"
    SCHEDULES_PAUSED = "schedules_paused"
    SCHEDULES_RESUMED = "schedules_resumed"
    SCHEDULE_CREATED = "schedule_created"
    SCHEDULE_CHANGED = "schedule_changed"
    SCHEDULE_PAUSED = "schedule_paused"
    SCHEDULE_RESUMED = "schedule_resumed"
    SCHEDULE_DELETED = "schedule_deleted"
    SCHEDULE_RESTORED = "schedule_restored"
    SCHEDULE_RUN = "schedule_run"
    TASK_RUN = "task_run"
    CALENDAR_CREATED = "calendar_created"
    CALENDAR_CHANGED = "calendar_changed"
    CALENDAR_DELETED = "calendar_deleted"
    CALENDAR_RESTORED = "calendar_restored"
    WORKFLOW_CREATED = "workflow_created"
    WORKFLOW_CHANGED = "workflow_changed"
    WORKFLOW_PAUSED = "workflow_paused"
    WORKFLOW_ACTIVATED = "workflow_activated"
    WORKFLOW_DELETED = "workflow_deleted"
    WORKFLOW_RESTORED = "workflow_restored"
    WORKFLOW_RUN = "workflow_run"
    WORKFLOW_RUN_RETRIED = "workflow_run_retried"
    WORKFLOW_RUN_CANCELLED = "workflow_run_cancelled"
    STEP_QUEUE_CREATED = "step_queue_created"
    STEP_QUEUE_CHANGED = "step_queue_changed"
    STEP_QUEUE_DELETED = "step_queue_deleted"
    STEP_QUEUE_RUN = "step_queue_run"
    STEP_QUEUE_RESUMED = "step_queue_resumed"
    STEP_QUEUE_CANCELLED = "step_queue_cancelled"
    ROLLBACK_RETRIED = "rollback_retried"
    TOKEN_CREATED = "token_created"  # noqa: S105 (the name of an act)
    TOKEN_REVOKED = "token_revoked"  # noqa: S105
    LINK_CREATED = "link_created"
    LINK_REVOKED = "link_revoked"
    REPLAY_UPLOADED = "replay_uploaded"
    REPLAY_DELETED = "replay_deleted"
    EXPORT_CANCELLED = "export_cancelled"
    PASSWORD_CHANGED = "password_changed"  # noqa: S105
    IDENTITY_LINKED = "identity_linked"
    IDENTITY_UNLINKED = "identity_unlinked"
    PASSWORD_RESET = "password_reset"  # noqa: S105
    QUEUE_PAUSED = "queue_paused"
    QUEUE_RESUMED = "queue_resumed"
    WORKER_DRAINED = "worker_drained"
    WORKER_RESUMED = "worker_resumed"


class DeletedKind(models.TextChoices):
    """What a user can restore after deleting it on a page."""

    SCHEDULE = "schedule"
    CALENDAR = "calendar"
    VIEW = "view"
    WEBHOOK = "webhook"
    WORKFLOW = "workflow"


# The names of an Execution's states in the v1 contract of task runs: see docs/api.md.
V1_EXECUTION_STATUS: Final[dict[str, str]] = {
    ExecutionStatus.PENDING: "queued",
    ExecutionStatus.RUNNING: "running",
    ExecutionStatus.SUCCESS: "completed",
    ExecutionStatus.FAILED: "failed",
    ExecutionStatus.CANCELLED: "cancelled",
}
V1_EXECUTION_TIMED_OUT: Final = "timeout"
