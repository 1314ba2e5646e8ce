"""The names, signs and tones in which people read the states of step queues."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from jobs.display import Label
from scheduler.steps.models import StepQueue
from scheduler.steps.pages.operation_status import OperationStatus
from scheduler.steps.states import Direction, QueueState, StepEventType

OPERATION_LABELS: dict[OperationStatus, Label] = {
    OperationStatus.PENDING: Label(_("pending"), "○"),
    OperationStatus.RUNNING: Label(_("running"), "●", "run"),
    OperationStatus.SUCCEEDED: Label(_("succeeded"), "✓", "good"),
    OperationStatus.FAILED: Label(_("failed"), "✕", "bad"),
    OperationStatus.TIMED_OUT: Label(_("timed out"), "◷", "bad"),
    OperationStatus.NO_LIBRARY: Label(_("no library"), "∅", "late"),
    OperationStatus.NO_OPERATION: Label(_("no operation"), "–"),
    OperationStatus.NOT_NEEDED: Label(_("not needed"), "·"),
    OperationStatus.TO_ROLL_BACK: Label(_("will be rolled back"), "◇", "ready"),
    OperationStatus.ROLLING_BACK: Label(_("rolling back"), "●", "run"),
    OperationStatus.ROLLED_BACK: Label(_("rolled back"), "↶", "late"),
    OperationStatus.ROLLBACK_FAILED: Label(_("rollback failed"), "✕", "bad"),
}
STATE_LABELS: dict[str, Label] = {
    QueueState.EMPTY: Label(_("empty"), "○"),
    QueueState.READY: Label(_("ready"), "◇", "ready"),
    QueueState.RUNNING: Label(_("running"), "●", "run"),
}
EVENT_NAMES: dict[str, Promise] = {
    StepEventType.STARTED: _("started"),
    StepEventType.RESUMED: _("resumed"),
    StepEventType.STEP_ENDED: _("step finished"),
    StepEventType.STEP_RETRYING: _("retry scheduled"),
    StepEventType.UNDO_FAILED: _("rollback failed"),
    StepEventType.CANCEL_REQUESTED: _("rollback requested"),
    StepEventType.FINISHED: _("finished"),
}
DIRECTION_NAMES: dict[str, Promise] = {Direction.FORWARD: _("forward"), Direction.BACKWARD: _("backward")}


def queue_label(queue: StepQueue, *, failed: bool) -> Label:
    """The state of the queue, or of its last run; `failed`: the rollback of a job failed."""
    if queue.state == QueueState.RUNNING:
        if queue.operation_direction == Direction.BACKWARD:
            return Label(_("rolling back"), "↶", "late")
        if queue.cancel_requested_at is not None:
            return Label(_("rollback requested"), "●", "late")
        return STATE_LABELS[queue.state]
    if queue.state == QueueState.EMPTY or not queue.run:
        return STATE_LABELS[queue.state]
    if queue.operation_direction == Direction.FORWARD:
        return Label(_("succeeded"), "✓", "good")
    if failed:
        return Label(_("rollback incomplete"), "✕", "bad")
    return Label(_("rolled back"), "↶", "late")
