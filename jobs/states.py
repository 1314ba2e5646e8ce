"""Every state.

The models, the API, the pages and the admin take their choices from here. engine.sql repeats the values, and
`tests/unit/test_states.py` checks that it names no others.
"""

from typing import Final

from django.db import models
from django.utils.translation import gettext_lazy as _

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

    JOB = "JOB", _("job")
    SCHEDULE = "SCHEDULE", _("schedule")
    MANUAL = "MANUAL", _("manual")
    WORKFLOW = "WORKFLOW", _("workflow")
    STEP = "STEP", _("step")
    EXPORT = "EXPORT", _("export")


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

    BLOCK = "block", _("wait")
    FAIL = "fail", _("fail")
    RUN = "run", _("run anyway")


class OnLost(models.TextChoices):
    """The effect of a worker's death on its Execution."""

    RETRY = "retry", _("retry")
    FAIL = "fail", _("fail")


class Backoff(models.TextChoices):
    LINEAR = "linear", _("linear")
    EXPONENTIAL = "exponential", _("exponential")


class EventType(models.TextChoices):
    JOB_READY = "job_ready", _("Queued")
    JOB_STARTED = "job_started", _("Started")
    JOB_COMPLETED = "job_completed", _("Succeeded")
    JOB_FAILED = "job_failed", _("Failed (no retries left)")
    JOB_TIMEOUT = "job_timeout", _("Timed out")
    JOB_RETRYING = "job_retrying", _("Retry scheduled")
    JOB_CANCELLED = "job_cancelled", _("Cancelled")
    BATCH_COMPLETED = "batch_completed", _("Batch completed")
    WORKFLOW_RUN_FAILED = "workflow_run_failed", _("Workflow run failed")
    SCHEDULE_FAILING = "schedule_failing", _("Schedule failing")
    SCHEDULE_RECOVERED = "schedule_recovered", _("Schedule recovered")
    # These record who changed an order or cancelled a running job, and why, for operators. Clients do not
    # receive them.
    JOB_REPRIORITISED = "job_reprioritised", _("Priority changed")
    JOB_CANCEL_REQUESTED = "job_cancel_requested", _("Cancellation requested")


OPERATORS_EVENTS: Final = (EventType.JOB_REPRIORITISED, EventType.JOB_CANCEL_REQUESTED)
CLIENT_EVENTS: Final = tuple(type for type in EventType.values if type not in OPERATORS_EVENTS)


# The failures that need a person: listed as alerts on the pages, and sent to new webhooks by default.
ALERT_EVENTS: Final = (EventType.JOB_FAILED, EventType.WORKFLOW_RUN_FAILED, EventType.SCHEDULE_FAILING)


class WebhookFormat(models.TextChoices):
    """What a webhook sends: signed events for programs, or messages for the people of a chat."""

    DURE = "dure", _("Signed events (Standard Webhooks)")
    SLACK = "slack", "Slack"
    DISCORD = "discord", "Discord"
    TEAMS = "teams", "Microsoft Teams"


class MemberRole(models.TextChoices):
    """The role of a member in an office: a viewer sees, an operator acts, an owner also configures."""

    VIEWER = "viewer", _("viewer")
    OPERATOR = "operator", _("operator")
    OWNER = "owner", _("owner")


class Surface(models.TextChoices):
    """Where a user acts."""

    PAGE = "page", _("pages")
    API = "api", _("API")
    ADMIN = "admin", _("admin")
    COMMAND = "command", _("command line")


class Act(models.TextChoices):
    """What people do. Their acts on single jobs are events."""

    OFFICE_CREATED = "office_created", _("Office created")
    OFFICE_CHANGED = "office_changed", _("Office changed")
    OFFICE_PAUSED = "office_paused", _("Office paused")
    OFFICE_RESUMED = "office_resumed", _("Office resumed")
    LIMITS_CHANGED = "limits_changed", _("Limits changed")
    MEMBER_ADDED = "member_added", _("Member added")
    MEMBER_CHANGED = "member_changed", _("Member's role changed")
    MEMBER_REMOVED = "member_removed", _("Member removed")
    WEBHOOK_CREATED = "webhook_created", _("Webhook created")
    WEBHOOK_CHANGED = "webhook_changed", _("Webhook changed")
    WEBHOOK_ROTATED = "webhook_rotated", _("Webhook's secret rotated")
    WEBHOOK_DELETED = "webhook_deleted", _("Webhook deleted")
    WEBHOOK_RESTORED = "webhook_restored", _("Webhook's deletion undone")
    SCHEDULES_PAUSED = "schedules_paused", _("Schedules paused")
    SCHEDULES_RESUMED = "schedules_resumed", _("Schedules resumed")
    SCHEDULE_CREATED = "schedule_created", _("Schedule created")
    SCHEDULE_CHANGED = "schedule_changed", _("Schedule changed")
    SCHEDULE_PAUSED = "schedule_paused", _("Schedule paused")
    SCHEDULE_RESUMED = "schedule_resumed", _("Schedule resumed")
    SCHEDULE_DELETED = "schedule_deleted", _("Schedule deleted")
    SCHEDULE_RESTORED = "schedule_restored", _("Schedule's deletion undone")
    SCHEDULE_RUN = "schedule_run", _("Schedule run by hand")
    TASK_RUN = "task_run", _("Task run by hand")
    CALENDAR_CREATED = "calendar_created", _("Calendar created")
    CALENDAR_CHANGED = "calendar_changed", _("Calendar changed")
    CALENDAR_DELETED = "calendar_deleted", _("Calendar deleted")
    CALENDAR_RESTORED = "calendar_restored", _("Calendar's deletion undone")
    WORKFLOW_CREATED = "workflow_created", _("Workflow created")
    WORKFLOW_CHANGED = "workflow_changed", _("Workflow changed")
    WORKFLOW_PAUSED = "workflow_paused", _("Workflow paused")
    WORKFLOW_ACTIVATED = "workflow_activated", _("Workflow activated")
    WORKFLOW_DELETED = "workflow_deleted", _("Workflow deleted")
    WORKFLOW_RESTORED = "workflow_restored", _("Workflow's deletion undone")
    WORKFLOW_RUN = "workflow_run", _("Workflow run by hand")
    WORKFLOW_RUN_RETRIED = "workflow_run_retried", _("Workflow run retried")
    WORKFLOW_RUN_CANCELLED = "workflow_run_cancelled", _("Workflow run cancelled")
    STEP_QUEUE_CREATED = "step_queue_created", _("Step queue created")
    STEP_QUEUE_CHANGED = "step_queue_changed", _("Step queue changed")
    STEP_QUEUE_DELETED = "step_queue_deleted", _("Step queue deleted")
    STEP_QUEUE_RUN = "step_queue_run", _("Step queue started")
    STEP_QUEUE_RESUMED = "step_queue_resumed", _("Step queue resumed")
    STEP_QUEUE_CANCELLED = "step_queue_cancelled", _("Step queue's rollback requested")
    ROLLBACK_RETRIED = "rollback_retried", _("Rollback of a job retried")
    TOKEN_CREATED = "token_created", _("API token created")
    TOKEN_REVOKED = "token_revoked", _("API token revoked")
    LINK_CREATED = "link_created", _("Link to an export created")
    LINK_REVOKED = "link_revoked", _("Link to an export revoked")
    REPLAY_UPLOADED = "replay_uploaded", _("Replay uploaded")
    REPLAY_DELETED = "replay_deleted", _("Replay deleted")
    EXPORT_CANCELLED = "export_cancelled", _("Export cancelled")
    PASSWORD_CHANGED = "password_changed", _("Password changed")
    IDENTITY_LINKED = "identity_linked", _("Single sign-on linked")
    IDENTITY_UNLINKED = "identity_unlinked", _("Single sign-on unlinked")
    PASSWORD_RESET = "password_reset", _("Password reset by mail")
    QUEUE_PAUSED = "queue_paused", _("Queue paused")
    QUEUE_RESUMED = "queue_resumed", _("Queue resumed")
    WORKER_DRAINED = "worker_drained", _("Worker drained")
    WORKER_RESUMED = "worker_resumed", _("Worker resumed")


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
