"""What people read instead of the words of turns, schedules, workflows and policies."""

from django.utils.translation import gettext_lazy as _

from jobs import display
from jobs.display import Label, Text
from jobs.states import ExecutionStatus
from scheduler.models import Schedule
from scheduler.schedules.catchup import CatchUp
from scheduler.schedules.rules import Kind
from scheduler.states import OccurrenceOutcome, Overlap, RunStatus, WorkflowStatus

TURNS: dict[str, Label] = {
    OccurrenceOutcome.RUN: Label(_("run"), "✓", "good"),
    OccurrenceOutcome.SKIPPED: Label(_("skipped"), "»", "late"),
    OccurrenceOutcome.MISSED: Label(_("missed"), "–", "late"),
}
WORKFLOWS: dict[str, Label] = {
    WorkflowStatus.DRAFT: Label(_("draft"), "✎"),
    WorkflowStatus.ACTIVE: Label(_("active"), "▶", "good"),
    WorkflowStatus.PAUSED: Label(_("paused"), "‖", "late"),
}
ENABLED, PAUSED, OVER = (
    Label(_("enabled"), "▶", "good"),
    WORKFLOWS[WorkflowStatus.PAUSED],
    Label(_("over"), "■"),
)
GONE = Label(_("run, its record is deleted"), "·")
KINDS: dict[str, Text] = {
    Kind.CRON: _("cron"),
    Kind.INTERVAL: _("interval"),
    Kind.ONCE: _("once"),
}
OVERLAPS: dict[str, Text] = {
    Overlap.SKIP: _("A turn that comes while the last run has not ended is skipped."),
    Overlap.ALLOW: _("A turn that comes while the last run has not ended runs beside it."),
}
CATCH_UPS: dict[str, Text] = {
    CatchUp.LATEST: _("After an outage it runs once for all turns that were missed."),
    CatchUp.NONE: _("A turn that is more than a minute late does not run."),
    CatchUp.ALL: _("After an outage each missed turn runs."),
}

display.register_state_labels(
    {
        RunStatus.RUNNING: display.STATE_LABELS[ExecutionStatus.RUNNING],
        RunStatus.COMPLETED: display.STATE_LABELS[ExecutionStatus.SUCCESS],
        **WORKFLOWS,
    }
)
RUNS: dict[str, Label] = {status: display.state_label(status) for status in RunStatus}


def of_schedule(schedule: Schedule) -> Label:
    if not schedule.enabled:
        return PAUSED
    return OVER if schedule.next_run_at is None else ENABLED


def of_turn(turn: str, status: str | None) -> Label:
    """What became of a due time: of one that ran, what became of its Execution."""
    if turn != OccurrenceOutcome.RUN:
        return TURNS[turn]
    return GONE if status is None else display.state_label(status)
