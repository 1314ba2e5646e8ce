"""Labels of schedules, workflows and their runs, and rules in words, in the reader's language."""

from collections.abc import Iterable

from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from jobs import display
from jobs.display import Label, Text
from jobs.errors import ErrorText, in_english
from jobs.states import ExecutionStatus, JobStatus
from scheduler.models import Schedule
from scheduler.runs.filters import RunState
from scheduler.schedules import words
from scheduler.schedules.catchup import (
    IN_CALENDAR,
    LATER_DUE,
    MANUAL_RUNNING,
    OTHER_SCHEDULE_RUNNING,
    STILL_RUNNING,
    TOO_LATE,
    CatchUp,
)
from scheduler.schedules.rules import Kind, Rule
from scheduler.states import OccurrenceOutcome, Overlap, RunStatus, WorkflowStatus
from scheduler.workflows.recurrence import ScheduleConfig

OUTCOMES: dict[str, Label] = {
    OccurrenceOutcome.RUN: Label(_("run"), "✓", "good"),
    OccurrenceOutcome.SKIPPED: Label(_("Skipped"), "»", "late"),
    OccurrenceOutcome.MISSED: Label(_("Missed"), "–", "late"),
}
RUN_DELETED = Label(_("Run, record deleted"), "·")
WORKFLOWS: dict[str, Label] = {
    WorkflowStatus.DRAFT: Label(_("Draft"), "✎"),
    WorkflowStatus.ACTIVE: Label(_("Active"), "▶", "good"),
    WorkflowStatus.PAUSED: Label(_("Paused"), "‖", "late"),
}
ENABLED = Label(_("Enabled"), "▶", "good")
PAUSED = WORKFLOWS[WorkflowStatus.PAUSED]
ENDED = Label(_("Ended (no upcoming runs)"), "■")
KINDS: dict[str, Text] = {
    Kind.CRON: _("Cron"),
    Kind.INTERVAL: _("Interval"),
    Kind.ONCE: _("Once"),
}
OVERLAPS: dict[str, Text] = {
    Overlap.SKIP: _("Skip this run"),
    Overlap.ALLOW: _("Run concurrently"),
}
CATCH_UPS: dict[str, Text] = {
    CatchUp.LATEST: _("Run once to catch up"),
    CatchUp.NONE: _("Skip missed runs (later than the grace period)"),
    CatchUp.ALL: _("Run every missed run"),
}

REASONS = {IN_CALENDAR, STILL_RUNNING, MANUAL_RUNNING, OTHER_SCHEDULE_RUNNING, LATER_DUE, TOO_LATE}

display.register_state_labels(
    {
        RunStatus.RUNNING: display.STATE_LABELS[ExecutionStatus.RUNNING],
        RunState.QUEUED: display.STATE_LABELS[JobStatus.READY],
        RunState.SUCCEEDED: display.STATE_LABELS[JobStatus.DONE],
        RunStatus.COMPLETED: display.STATE_LABELS[ExecutionStatus.SUCCESS],
        **WORKFLOWS,
    }
)


def state_choices(states: Iterable[str]) -> list[tuple[str, Text]]:
    """The states with their names, as the choices of a field or a filter."""
    return [(str(state), display.state_label(state).name) for state in states]


def language() -> str:
    """The language of the reader, of those in which rules have words."""
    return "ko" if (get_language() or "ko").startswith("ko") else "en"


def rule_in_words(rule: Rule) -> str:
    return words.rule_in_words(rule, language())


def config_in_words(config: ScheduleConfig) -> str:
    return words.config_in_words(config, language())


def schedule_label(schedule: Schedule) -> Label:
    if not schedule.enabled:
        return PAUSED
    return ENDED if schedule.next_run_at is None else ENABLED


def occurrence_label(outcome: str, status: str | None) -> Label:
    """The outcome of a due time; if it started an Execution, the state of that."""
    if outcome != OccurrenceOutcome.RUN:
        return OUTCOMES[outcome]
    return RUN_DELETED if status is None else display.state_label(status)


def occurrence_reason(reason: str) -> str:
    """The text of a reason's code; other reasons are the English texts of errors."""
    return str(ErrorText(reason)) if reason in REASONS else reason


def occurrence_reason_in_english(reason: str) -> str:
    return in_english(ErrorText(reason)) if reason in REASONS else reason
