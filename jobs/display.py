"""How people see values on pages, in the admin and on the command line: names and times."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from dure.failures import FailureType
from jobs.states import (
    Act,
    Backoff,
    EventType,
    ExecutionStatus,
    JobStatus,
    MemberRole,
    OnDependencyFailure,
    OnLost,
    Outcome,
    Surface,
    Trigger,
    WebhookFormat,
)

Text = str | Promise

# --- names ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Label:
    """A state as people see it: a name, a sign beside the colour, and a tone that gives the colour."""

    name: Text
    sign: str = ""
    tone: str = "wait"


STATE_LABELS: dict[str, Label] = {
    JobStatus.PENDING: Label(_("Pending"), "○"),
    JobStatus.READY: Label(_("Queued"), "◇", "ready"),
    JobStatus.PROCESSING: Label(_("Running"), "●", "run"),
    JobStatus.DONE: Label(_("Succeeded"), "✓", "good"),
    JobStatus.FAILED: Label(_("Failed"), "✕", "bad"),
    JobStatus.CANCELLED: Label(_("Cancelled"), "⊘"),
    JobStatus.TIMEOUT: Label(_("Timed out (retrying)"), "◷", "late"),
    ExecutionStatus.PENDING: Label(_("Pending"), "○"),
    ExecutionStatus.RUNNING: Label(_("Running"), "●", "run"),
    ExecutionStatus.SUCCESS: Label(_("Succeeded"), "✓", "good"),
    ExecutionStatus.FAILED: Label(_("Failed"), "✕", "bad"),
    ExecutionStatus.CANCELLED: Label(_("Cancelled"), "⊘"),
}
OUTCOME_LABELS: dict[str, Label] = {
    Outcome.SUCCESS: STATE_LABELS[ExecutionStatus.SUCCESS],
    Outcome.FAILURE: STATE_LABELS[ExecutionStatus.FAILED],
    Outcome.TIMEOUT: Label(_("Timed out"), "◷", "bad"),
    Outcome.CANCELLED: STATE_LABELS[ExecutionStatus.CANCELLED],
    Outcome.LOST: Label(_("Worker lost"), "✕", "late"),
}
FAILURE_NAMES: dict[str, Text] = {
    FailureType.TIMEOUT: _("Timeout"),
    FailureType.SESSION_ERROR: _("Session error"),
    FailureType.WORKER_LOST: _("Worker lost"),
    FailureType.ERROR: _("Error"),
    FailureType.GIT_CONFLICT: _("Git conflict"),
    FailureType.PERMISSION_ERROR: _("Permission denied"),
    FailureType.DEPENDENCY_FAILED: _("Dependency failed"),
    FailureType.INVALID_ARGS: _("Invalid arguments"),
    FailureType.CANCELLED: _("Cancelled"),
    FailureType.POISON: _("Crash loop (quarantined)"),
}
# What to do about a failure that another attempt would not help.
REMEDIES: dict[str, Text] = {
    FailureType.GIT_CONFLICT: _("Your intervention is needed: resolve the conflict, then retry the job."),
    FailureType.PERMISSION_ERROR: _("Check the settings: grant the missing permission, then retry the job."),
    FailureType.DEPENDENCY_FAILED: _("Retry the dependencies that failed first."),
    FailureType.INVALID_ARGS: _("Correct the arguments, and submit the job again."),
    FailureType.POISON: _("Find out why it ends its workers before you retry it."),
}
EVENT_NAMES: dict[str, Text] = {
    EventType.JOB_READY: _("Queued"),
    EventType.JOB_STARTED: _("Started"),
    EventType.JOB_COMPLETED: _("Succeeded"),
    EventType.JOB_FAILED: _("Failed (no retries left)"),
    EventType.JOB_TIMEOUT: _("Timed out"),
    EventType.JOB_RETRYING: _("Retry scheduled"),
    EventType.JOB_CANCELLED: _("Cancelled"),
    EventType.BATCH_COMPLETED: _("Batch completed"),
    EventType.WORKFLOW_RUN_FAILED: _("Workflow run failed"),
    EventType.SCHEDULE_FAILING: _("Schedule failing"),
    EventType.SCHEDULE_RECOVERED: _("Schedule recovered"),
    EventType.JOB_REPRIORITISED: _("Priority changed"),
    EventType.JOB_CANCEL_REQUESTED: _("Cancellation requested"),
}
# The details of an event that people want to see; the others are for programs.
EVENT_DETAIL_NAMES: dict[str, Text] = {
    "actor": _("by"),
    "reason": _("reason"),
    "worker": _("worker"),
    "attempt": _("attempt"),
    "failure_type": _("kind"),
    "error": _("error"),
    "retry_at": _("next attempt"),
}
WEBHOOK_FORMAT_NAMES: dict[str, Text] = {
    WebhookFormat.DURE: _("Signed events (Standard Webhooks)"),
    WebhookFormat.SLACK: "Slack",
    WebhookFormat.DISCORD: "Discord",
    WebhookFormat.TEAMS: "Microsoft Teams",
}
TRIGGER_NAMES: dict[str, Text] = {
    Trigger.JOB: _("job"),
    Trigger.SCHEDULE: _("schedule"),
    Trigger.MANUAL: _("manual"),
    Trigger.WORKFLOW: _("workflow"),
    Trigger.STEP: _("step"),
    Trigger.EXPORT: _("export"),
}
ACT_NAMES: dict[str, Text] = {
    Act.OFFICE_CREATED: _("Office created"),
    Act.OFFICE_CHANGED: _("Office changed"),
    Act.OFFICE_PAUSED: _("Office paused"),
    Act.OFFICE_RESUMED: _("Office resumed"),
    Act.LIMITS_CHANGED: _("Limits changed"),
    Act.MEMBER_ADDED: _("Member added"),
    Act.MEMBER_CHANGED: _("Member's role changed"),
    Act.MEMBER_REMOVED: _("Member removed"),
    Act.WEBHOOK_CREATED: _("Webhook created"),
    Act.WEBHOOK_CHANGED: _("Webhook changed"),
    Act.WEBHOOK_ROTATED: _("Webhook's secret rotated"),
    Act.WEBHOOK_DELETED: _("Webhook deleted"),
    Act.WEBHOOK_RESTORED: _("Webhook's deletion undone"),
    Act.SCHEDULES_PAUSED: _("Schedules paused"),
    Act.SCHEDULES_RESUMED: _("Schedules resumed"),
    Act.SCHEDULE_CREATED: _("Schedule created"),
    Act.SCHEDULE_CHANGED: _("Schedule changed"),
    Act.SCHEDULE_PAUSED: _("Schedule paused"),
    Act.SCHEDULE_RESUMED: _("Schedule resumed"),
    Act.SCHEDULE_DELETED: _("Schedule deleted"),
    Act.SCHEDULE_RESTORED: _("Schedule's deletion undone"),
    Act.SCHEDULE_RUN: _("Schedule run by hand"),
    Act.TASK_RUN: _("Task run by hand"),
    Act.CALENDAR_CREATED: _("Calendar created"),
    Act.CALENDAR_CHANGED: _("Calendar changed"),
    Act.CALENDAR_DELETED: _("Calendar deleted"),
    Act.CALENDAR_RESTORED: _("Calendar's deletion undone"),
    Act.WORKFLOW_CREATED: _("Workflow created"),
    Act.WORKFLOW_CHANGED: _("Workflow changed"),
    Act.WORKFLOW_PAUSED: _("Workflow paused"),
    Act.WORKFLOW_ACTIVATED: _("Workflow activated"),
    Act.WORKFLOW_DELETED: _("Workflow deleted"),
    Act.WORKFLOW_RESTORED: _("Workflow's deletion undone"),
    Act.WORKFLOW_RUN: _("Workflow run by hand"),
    Act.WORKFLOW_RUN_RETRIED: _("Workflow run retried"),
    Act.WORKFLOW_RUN_CANCELLED: _("Workflow run cancelled"),
    Act.STEP_QUEUE_CREATED: _("Step queue created"),
    Act.STEP_QUEUE_CHANGED: _("Step queue changed"),
    Act.STEP_QUEUE_DELETED: _("Step queue deleted"),
    Act.STEP_QUEUE_RUN: _("Step queue started"),
    Act.STEP_QUEUE_RESUMED: _("Step queue resumed"),
    Act.STEP_QUEUE_CANCELLED: _("Step queue's rollback requested"),
    Act.ROLLBACK_RETRIED: _("Rollback of a job retried"),
    Act.TOKEN_CREATED: _("API token created"),
    Act.TOKEN_REVOKED: _("API token revoked"),
    Act.LINK_CREATED: _("Link to an export created"),
    Act.LINK_REVOKED: _("Link to an export revoked"),
    Act.REPLAY_UPLOADED: _("Replay uploaded"),
    Act.REPLAY_DELETED: _("Replay deleted"),
    Act.EXPORT_CANCELLED: _("Export cancelled"),
    Act.PASSWORD_CHANGED: _("Password changed"),
    Act.IDENTITY_LINKED: _("Single sign-on linked"),
    Act.IDENTITY_UNLINKED: _("Single sign-on unlinked"),
    Act.PASSWORD_RESET: _("Password reset by mail"),
    Act.QUEUE_PAUSED: _("Queue paused"),
    Act.QUEUE_RESUMED: _("Queue resumed"),
    Act.WORKER_DRAINED: _("Worker drained"),
    Act.WORKER_RESUMED: _("Worker resumed"),
}
SURFACE_NAMES: dict[str, Text] = {
    Surface.PAGE: _("pages"),
    Surface.API: _("API"),
    Surface.ADMIN: _("admin"),
    Surface.COMMAND: _("command line"),
}
MEMBER_ROLE_NAMES: dict[str, Text] = {
    MemberRole.VIEWER: _("viewer"),
    MemberRole.OPERATOR: _("operator"),
    MemberRole.OWNER: _("owner"),
}


BACKOFF_NAMES: dict[str, Text] = {Backoff.LINEAR: _("linear"), Backoff.EXPONENTIAL: _("exponential")}
ON_LOST_NAMES: dict[str, Text] = {OnLost.RETRY: _("retry"), OnLost.FAIL: _("fail")}
ON_DEPENDENCY_FAILURE_NAMES: dict[str, Text] = {
    OnDependencyFailure.BLOCK: _("wait"),
    OnDependencyFailure.FAIL: _("fail"),
    OnDependencyFailure.RUN: _("run anyway"),
}


def state_label(status: Any) -> Label:
    return STATE_LABELS.get(str(status)) or Label(str(status))


def register_state_labels(labels: dict[str, Label]) -> None:
    """Add the states of another app; a state that is known here keeps its label."""
    for status, label in labels.items():
        STATE_LABELS.setdefault(str(status), label)


def event_details(values: dict[str, Any]) -> list[tuple[Text, Any]]:
    """The details of an event that people want to see, with their names."""
    present = {name: values[name] for name in EVENT_DETAIL_NAMES if values.get(name) not in (None, "")}
    return [(EVENT_DETAIL_NAMES[name], _event_detail(name, value)) for name, value in present.items()]


def _event_detail(name: str, value: Any) -> Any:
    if name == "failure_type":
        return FAILURE_NAMES.get(value, value)
    return local_time(parse_datetime(value)) if name == "retry_at" else value


# --- times ----------------------------------------------------------------------------------------


def local_time(moment: datetime | None) -> str:
    return "" if moment is None else f"{timezone.localtime(moment):%Y-%m-%d %H:%M:%S}"


def unnamed_batch(created_at: datetime) -> str:
    return gettext("Batch of %(time)s") % {"time": local_time(created_at)}


def duration(seconds: float | None) -> str:
    """`0.4s`, `1:05` or `2:00:05`; a dash if it is not known. static/live.js counts on in the same form."""
    if seconds is None:
        return "–"
    if 0 <= seconds < 10:
        return f"{seconds:.1f}s"
    whole = max(0, int(seconds))
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


BAR_WIDTH = 1000
SMALLEST_BAR = 4


@dataclass(frozen=True)
class Bar:
    """A span of time on a timeline, in thousandths of its width."""

    x: int
    width: int


def time_bar(start: datetime | None, end: datetime | None, first: datetime, last: datetime) -> Bar | None:
    """The span from start to end on a timeline from first to last, never too thin to be seen."""
    whole = (last - first).total_seconds()
    if start is None or end is None or whole <= 0:
        return None
    x = round(BAR_WIDTH * (start - first).total_seconds() / whole)
    width = round(BAR_WIDTH * (end - start).total_seconds() / whole)
    x = min(max(0, x), BAR_WIDTH - SMALLEST_BAR)
    return Bar(x, max(SMALLEST_BAR, min(width, BAR_WIDTH - x)))
