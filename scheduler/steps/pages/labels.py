"""What people read instead of the words of step queues: a name, a sign and a tone for each."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from jobs.display import Label
from jobs.errors import Refused
from jobs.pages.refusals import told
from scheduler.steps.models import StepQueue
from scheduler.steps.pages.marks import Mark
from scheduler.steps.states import Direction, QueueState, StepEventType

MARKS: dict[Mark, Label] = {
    Mark.NOT_YET: Label(_("not yet"), "○"),
    Mark.RUNNING: Label(_("running"), "●", "run"),
    Mark.DONE: Label(_("done"), "✓", "good"),
    Mark.FAILED: Label(_("failed"), "✕", "bad"),
    Mark.TOO_LONG: Label(_("took too long"), "◷", "bad"),
    Mark.NO_LIBRARY: Label(_("has no library"), "∅", "late"),
    Mark.NOTHING: Label(_("nothing to do"), "–"),
    Mark.NOT_NEEDED: Label(_("not needed"), "·"),
    Mark.AHEAD: Label(_("will be undone"), "◇", "ready"),
    Mark.UNDOING: Label(_("being undone"), "●", "run"),
    Mark.UNDONE: Label(_("undone"), "↶", "late"),
    Mark.UNDO_FAILED: Label(_("could not be undone"), "✕", "bad"),
}
STATES: dict[str, Label] = {
    QueueState.EMPTY: Label(_("empty"), "○"),
    QueueState.READY: Label(_("ready"), "◇", "ready"),
    QueueState.RUNNING: Label(_("running"), "●", "run"),
}
EVENTS: dict[str, Promise] = {
    StepEventType.STARTED: _("started"),
    StepEventType.STEP_ENDED: _("an operation ended"),
    StepEventType.STEP_RETRYING: _("will be tried again"),
    StepEventType.UNDO_FAILED: _("could not be undone"),
    StepEventType.CANCEL_REQUESTED: _("told to turn back"),
    StepEventType.FINISHED: _("finished"),
}
DIRECTIONS: dict[str, Promise] = {Direction.FORWARD: _("forward"), Direction.BACKWARD: _("backward")}
# What a verb answers when the queue is not in a state for it.
REFUSALS: dict[str, Promise] = {
    "queue_empty": _("The queue has no jobs that could be run."),
    "queue_running": _("The queue is running: wait for its end, or have it turn back."),
    "nothing_to_cancel": _("There is nothing to turn back: the queue is not running forward any more."),
    "not_failed": _("Nothing of this job failed to be undone, or it was undone meanwhile."),
    "unknown_operation": _("The operation is not registered any more: no worker knows it."),
}


def refusal(refused: Refused) -> str:
    return str(REFUSALS.get(refused.code) or told(refused.message))


def standing(queue: StepQueue, *, undo_failed: bool) -> Label:
    """In one word what a queue does, or how its last run ended."""
    if queue.state == QueueState.RUNNING:
        if queue.operation_direction == Direction.BACKWARD:
            return Label(_("turning back"), "↶", "late")
        told = queue.cancel_requested_at is not None
        return Label(_("told to turn back"), "●", "late") if told else STATES[queue.state]
    if queue.state == QueueState.EMPTY or not queue.run:
        return STATES[queue.state]
    if queue.operation_direction == Direction.FORWARD:
        return Label(_("done"), "✓", "good")
    if undo_failed:
        return Label(_("turned back, not all undone"), "✕", "bad")
    return Label(_("turned back, all undone"), "↶", "late")
