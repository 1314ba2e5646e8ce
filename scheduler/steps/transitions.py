"""The next position of a run, as pure functions of a job's links, state and operations.

FORWARD   success → the next job, or the end at TAIL
          failure, timeout, or a cancelled run → BACKWARD, starting with this job's own operation
NOLIB     nothing to run in either direction → BACKWARD, starting with the job before
BACKWARD  success or failure → the job before, or the end at HEAD

A run that has rolled back may be resumed: FORWARD again, from the first job that has to run again.
"""

from dataclasses import dataclass
from enum import StrEnum

from scheduler.steps.states import HEAD, NO_OPERATION, TAIL, Direction, JobState, append_state


class OperationOutcome(StrEnum):
    """How an operation ended."""

    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"


@dataclass(frozen=True)
class StepNode:
    """A job's state, links and operations: all that a transition depends on."""

    job_id: str
    state: str
    prev_job: str
    next_job: str
    forward_operation: str
    backward_operation: str

    def operation(self, direction: str) -> str:
        return self.forward_operation if direction == Direction.FORWARD else self.backward_operation

    def has_nothing_to_run(self, direction: str) -> bool:
        return self.operation(direction) == NO_OPERATION


@dataclass(frozen=True)
class Transition:
    """The job's new state, and where the run goes: to a job (possibly the same one), HEAD or TAIL."""

    state: str
    direction: str
    next_job: str

    @property
    def ends_run(self) -> bool:
        return self.next_job in (HEAD, TAIL)


def after_operation(
    step: StepNode, direction: str, outcome: OperationOutcome, *, cancelled: bool = False
) -> Transition:
    """The transition after an operation of this job; `cancelled` when a rollback was requested."""
    if direction == Direction.BACKWARD:
        part = JobState.CANCELED if outcome is OperationOutcome.SUCCESS else JobState.FAILED
        return Transition(append_state(step.state, part), Direction.BACKWARD, step.prev_job)
    if outcome is OperationOutcome.SUCCESS and not cancelled:
        return Transition(JobState.SUCCESS, Direction.FORWARD, step.next_job)
    return Transition(JobState(outcome), Direction.BACKWARD, step.job_id)


def must_run_again(state: str, backward_operation: str) -> bool:
    """Is the job's work missing after a rollback? Where nothing was to roll back, a success still counts."""
    rolled_back = append_state(JobState.SUCCESS, JobState.CANCELED)
    return state != rolled_back or backward_operation != NO_OPERATION


def after_missing_library(step: StepNode) -> Transition:
    """A job that cannot run has nothing to roll back either."""
    return Transition(JobState.NOLIB, Direction.BACKWARD, step.prev_job)
