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
from jobs.states import ExecutionStatus, JobStatus, Outcome

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
