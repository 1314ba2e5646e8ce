"""What people read instead of the words of the states: a name, a sign beside the colour, and a tone."""

from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from jobs.states import EventType, ExecutionStatus, FailureType, JobStatus, MemberRole, Outcome, Trigger

Text = str | Promise


@dataclass(frozen=True)
class Label:
    name: Text
    sign: str = ""
    tone: str = "wait"


J, E, O = JobStatus, ExecutionStatus, Outcome  # noqa: E741

STATE_LABELS: dict[str, Label] = {
    J.PENDING: Label(_("waiting"), "○"),
    J.READY: Label(_("ready"), "◇", "ready"),
    J.PROCESSING: Label(_("running"), "●", "run"),
    J.DONE: Label(_("done"), "✓", "good"),
    J.FAILED: Label(_("failed"), "✕", "bad"),
    J.CANCELLED: Label(_("cancelled"), "⊘"),
    J.TIMEOUT: Label(_("timed out, will retry"), "◷", "late"),
    E.PENDING: Label(_("waiting"), "○"),
    E.RUNNING: Label(_("running"), "●", "run"),
    E.SUCCESS: Label(_("done"), "✓", "good"),
    E.FAILED: Label(_("failed"), "✕", "bad"),
    E.CANCELLED: Label(_("cancelled"), "⊘"),
}
OUTCOME_LABELS: dict[str, Label] = {
    O.SUCCESS: STATE_LABELS[E.SUCCESS],
    O.FAILURE: STATE_LABELS[E.FAILED],
    O.TIMEOUT: Label(_("timed out"), "◷", "bad"),
    O.CANCELLED: STATE_LABELS[E.CANCELLED],
    O.LOST: Label(_("worker lost"), "✕", "late"),
}
FAILURE_NAMES: dict[str, Text] = {
    FailureType.TIMEOUT: _("took too long"),
    FailureType.SESSION_ERROR: _("session error"),
    FailureType.WORKER_LOST: _("worker lost"),
    FailureType.ERROR: _("error"),
    FailureType.GIT_CONFLICT: _("Git conflict"),
    FailureType.PERMISSION_ERROR: _("permission refused"),
    FailureType.DEPENDENCY_FAILED: _("a dependency failed"),
    FailureType.INVALID_ARGS: _("invalid arguments"),
    FailureType.CANCELLED: _("cancelled"),
    FailureType.POISON: _("kills its workers"),
}
EVENT_NAMES: dict[str, Text] = {
    EventType.JOB_READY: _("became ready"),
    EventType.JOB_STARTED: _("started"),
    EventType.JOB_COMPLETED: _("completed"),
    EventType.JOB_FAILED: _("failed for good"),
    EventType.JOB_TIMEOUT: _("timed out"),
    EventType.JOB_RETRYING: _("will be tried again"),
    EventType.JOB_CANCELLED: _("cancelled"),
    EventType.BATCH_COMPLETED: _("batch completed"),
    EventType.JOB_REPRIORITISED: _("priority changed"),
}
# Of an event's details, what people want to know of it.
EVENT_DETAIL_NAMES: dict[str, Text] = {
    "actor": _("by"),
    "reason": _("reason"),
    "worker": _("worker"),
    "attempt": _("attempt"),
    "failure_type": _("kind"),
    "error": _("error"),
    "retry_at": _("next attempt"),
}
TRIGGER_NAMES: dict[str, Text] = {
    Trigger.JOB: _("job"),
    Trigger.SCHEDULE: _("schedule"),
    Trigger.MANUAL: _("by hand"),
    Trigger.WORKFLOW: _("workflow"),
    Trigger.STEP: _("step"),
    Trigger.EXPORT: _("export"),
}
MEMBER_ROLE_NAMES: dict[str, Text] = {
    MemberRole.VIEWER: _("viewer"),
    MemberRole.OPERATOR: _("operator"),
    MemberRole.OWNER: _("owner"),
}


def state_label(status: Any) -> Label:
    return STATE_LABELS.get(str(status)) or Label(str(status))


def register_state_labels(more: dict[str, Label]) -> None:
    """For the apps above: the words of their own states, where they are not the same as ours."""
    for status, one in more.items():
        STATE_LABELS.setdefault(str(status), one)
