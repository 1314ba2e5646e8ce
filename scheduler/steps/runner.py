"""Moves a step queue from one operation to the next, within one transaction.

The caller holds the queue's row lock, in the transaction in which the last operation ended or the run
starts. So a RUNNING queue always has an Execution for its current operation.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from django.conf import settings
from django.db import transaction

from jobs import lifecycle as engine
from jobs.specs import ExecutionSpec
from jobs.sql import call
from jobs.states import Trigger
from scheduler.steps import libraries, notifications, pubsub
from scheduler.steps.known_operations import KnownOperation
from scheduler.steps.position import Position, StepRow
from scheduler.steps.states import (
    NO_OPERATION,
    QUEUE_NOT_RUNNING,
    UNINIT,
    Direction,
    JobState,
    QueueState,
    StepEventType,
    operation_source,
)
from scheduler.steps.transitions import (
    OperationOutcome,
    Transition,
    after_missing_library,
    after_operation,
)

OPERATE = "steps.operate"
# The number of jobs that a query reads ahead when jobs without operations follow each other.
READ_AHEAD = 100
# The return message shows this much of an operation's return; job_return holds all of it.
RETURN_LENGTH = 200


@dataclass
class Changes:
    """The changes of one transaction, besides the queue's position."""

    steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    return_lines: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    failed_rollbacks: list[dict[str, Any]] = field(default_factory=list)

    def add_event(self, kind: StepEventType, details: dict[str, Any]) -> None:
        self.events.append({"type": kind, "details": details})


class Runner:
    """One transaction's part of a run: collects the changes, and writes them in one statement."""

    def __init__(
        self, queue_id: int, position: Position, *, ended: str | None = None, context: str | None = None
    ) -> None:
        """`ended` is the Execution that has ended, None as a run starts; `context` replaces the queue's."""
        self.queue_id = queue_id
        self.position = position
        self.changes = Changes()
        self._ended = ended
        self._context = context
        self._steps = {row.node.job_id: row for row in position.steps}
        self._execution: str | None = None
        self._spec: ExecutionSpec | None = None
        self._run_ended = False

    def load(self, low: int, high: int) -> None:
        """Read the jobs from number `low` to `high`."""
        for row in call.function("dure_steps_between", self.queue_id, low, high):
            step = StepRow.read(row)
            self._steps.setdefault(step.node.job_id, step)

    def finish_operation(self, outcome: OperationOutcome, returned: object) -> None:
        """Record how the operation of the current job ended."""
        step, position = self._current(), self.position
        self._apply(
            step,
            after_operation(step.node, position.direction, outcome, cancelled=position.cancelled),
            returned,
        )

    def start_next_operation(self) -> None:
        """Go on to the next operation that has to run, or to the end of the run."""
        while not self._run_ended:
            step, direction = self._current(), self.position.direction
            if direction == Direction.FORWARD and step.node.state == JobState.NOLIB:
                self._apply(step, after_missing_library(step.node), None)
            elif step.node.has_nothing_to_run(direction):
                self.finish_operation(OperationOutcome.SUCCESS, NO_OPERATION)
            elif (operation := _find_operation(step, direction)) is None:
                self._skip_unregistered(step)
            else:
                self._spec = operation_spec(self.queue_id, step, direction, operation)
                self._execution = str(self._spec.id)
                return

    def retry_operation(self, execution: str, error: dict[str, str]) -> None:
        """Stay at the current operation: the engine runs its Execution again."""
        self._execution = execution
        details = {"job_id": self.position.running_job, "direction": str(self.position.direction)}
        self.changes.add_event(StepEventType.STEP_RETRYING, details | error)

    def write(self) -> bool:
        """Write the changes. False, with nothing written, when the queue has changed since it was read."""
        answer = call.function("dure_step_write", call.as_json(self._values()), self._context)
        if answer is None:
            return False
        if self._spec is not None:
            engine.start_executions([self._spec])
        for line in self.changes.failed_rollbacks:
            notifications.notify_undo_failed(self.queue_id, self.position.run, line)
        if self._run_ended:
            notifications.notify_finished(self.queue_id)
        if answer["watched"]:
            transaction.on_commit(lambda: pubsub.publish_change(self.queue_id))
        return True

    def _current(self) -> StepRow:
        return self._steps[self.position.running_job]

    def _skip_unregistered(self, step: StepRow) -> None:
        """The operation's code was removed after the job was enqueued: treat it as a missing library."""
        if self.position.direction == Direction.FORWARD:
            self._apply(step, after_missing_library(step.node), None)
        else:
            name = step.node.backward_operation
            message = f"No operation {name!r} is registered in {step.library!r} any more."
            self.finish_operation(OperationOutcome.FAILED, failure(message, "error"))

    def _apply(self, step: StepRow, transition: Transition, returned: object) -> None:
        node, direction = step.node, self.position.direction
        change = self.changes.steps.setdefault(node.job_id, {"job_id": node.job_id, "returned": {}})
        change["state"] = transition.state
        if transition.state != JobState.NOLIB:
            change["returned"][direction.lower()] = returned
            if direction == Direction.FORWARD:  # a resumed run may have rolled back before
                change["returned"][Direction.BACKWARD.lower()] = UNINIT
        line = {
            "job_id": node.job_id,
            "number": step.number,
            "direction": str(direction),
            "operation": node.operation(direction),
            "state": str(transition.state),
            "return": shorten(returned),
        }
        self.changes.return_lines.append(line)
        self.changes.add_event(StepEventType.STEP_ENDED, line)
        if direction == Direction.BACKWARD and transition.state.endswith(JobState.FAILED):
            self.changes.failed_rollbacks.append(line)
        self._steps[node.job_id] = replace(step, node=replace(node, state=transition.state))
        self.position = replace(self.position, direction=transition.direction)
        # A rerun by hand rolls back that one job only.
        self._run_ended = transition.ends_run or self.position.rerun
        if not self._run_ended:
            self._move(step.number, transition.next_job)

    def _move(self, number: int, next_job: str) -> None:
        self.position = replace(self.position, running_job=next_job)
        if next_job in self._steps:
            return
        if self.position.direction == Direction.FORWARD:
            self.load(number + 1, number + READ_AHEAD)
        else:
            self.load(max(1, number - READ_AHEAD), number - 1)

    def _values(self) -> dict[str, Any]:
        """The argument of dure_step_write."""
        position, changes, over = self.position, self.changes, self._run_ended
        return {
            "queue": self.queue_id,
            "ending": self._ended,
            "cancelled": position.cancelled,
            "run": position.run,
            "state": QueueState.READY if over else QueueState.RUNNING,
            "direction": position.direction,
            "running_job": QUEUE_NOT_RUNNING if over else position.running_job,
            "execution": None if over else self._execution,
            "again": position.rerun and not over,
            "over": over,
            "steps": list(changes.steps.values()),
            "events": changes.events,
            "lines": changes.return_lines,
            "uninit": UNINIT,
        }


def _find_operation(step: StepRow, direction: str) -> KnownOperation | None:
    try:
        return libraries.find(step.library, step.node.operation(direction))
    except libraries.UnknownOperation:
        return None


def operation_spec(queue_id: int, step: StepRow, direction: str, operation: KnownOperation) -> ExecutionSpec:
    """The Execution of one operation. A forward operation is never retried; a backward one is."""
    backward = direction == Direction.BACKWARD
    retries = libraries.backward_retries(step.undo_retries, operation) if backward else 0
    job_id = step.node.job_id
    return ExecutionSpec(
        task_id=OPERATE,
        role=operation.role,
        trigger=Trigger.STEP,
        source=operation_source(queue_id, job_id, direction),
        args={
            "queue_id": queue_id,
            "job_id": job_id,
            "direction": str(direction),
            "library": operation.library,
            "operation": operation.name,
        },
        max_retries=retries,
        retry_base_delay_ms=int(settings.DURE_STEP_BACKWARD_DELAY_SECONDS * 1000),
        timeout_ms=max(1, round(step.expired_time * 1000)),
    )


def failure(error: str, failure_type: str) -> dict[str, str]:
    """The job_return of a failed operation."""
    return {"error": error[:10_000], "failure_type": failure_type}


def shorten(returned: object) -> object:
    text = returned if isinstance(returned, str) else call.as_json(returned)
    return returned if len(text) <= RETURN_LENGTH else f"{text[: RETURN_LENGTH - 1]}…"
