"""The status of each operation of a step queue, derived from its job's state. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from scheduler.steps.states import NO_OPERATION, Direction, JobState


class OperationStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    NO_LIBRARY = "no_library"
    NO_OPERATION = "no_operation"
    # Backward operations only.
    NOT_NEEDED = "not_needed"
    TO_ROLL_BACK = "to_roll_back"
    ROLLING_BACK = "rolling_back"
    ROLLED_BACK = "rolled_back"
    ROLLBACK_FAILED = "rollback_failed"


FORWARD = {
    JobState.NOTYET: OperationStatus.PENDING,
    JobState.NOLIB: OperationStatus.NO_LIBRARY,
    JobState.SUCCESS: OperationStatus.SUCCEEDED,
    JobState.FAILED: OperationStatus.FAILED,
    JobState.TIMEOUT: OperationStatus.TIMED_OUT,
}
BACKWARD = {
    JobState.CANCELED: OperationStatus.ROLLED_BACK,
    JobState.FAILED: OperationStatus.ROLLBACK_FAILED,
}


@dataclass(frozen=True)
class Position:
    """The position of a run: the job of the running operation (empty if none runs), and the direction."""

    job_id: str
    direction: str

    def is_at(self, job_id: str, direction: str) -> bool:
        return self.job_id == job_id and self.direction == direction

    @property
    def is_rolling_back(self) -> bool:
        return bool(self.job_id) and self.direction == Direction.BACKWARD


def split_state(state: str) -> list[JobState]:
    """The parts of "SUCCESS, FAILED, CANCELED": the forward end, then one for each rollback."""
    return [JobState(part) for part in state.split(", ")]


def forward_status(job_id: str, state: str, operation: str, position: Position) -> OperationStatus:
    if position.is_at(job_id, Direction.FORWARD):
        return OperationStatus.RUNNING
    status = FORWARD[split_state(state)[0]]
    if status is OperationStatus.SUCCEEDED and operation == NO_OPERATION:
        return OperationStatus.NO_OPERATION
    return status


def backward_status(job_id: str, state: str, operation: str, position: Position) -> OperationStatus:
    if position.is_at(job_id, Direction.BACKWARD):
        return OperationStatus.ROLLING_BACK
    forward_end, *rollbacks = split_state(state)
    if rollbacks:
        status = BACKWARD[rollbacks[-1]]
        if status is OperationStatus.ROLLED_BACK and operation == NO_OPERATION:
            return OperationStatus.NO_OPERATION
        return status
    if forward_end in (JobState.NOTYET, JobState.NOLIB) or not position.is_rolling_back:
        return OperationStatus.NOT_NEEDED
    return OperationStatus.NO_OPERATION if operation == NO_OPERATION else OperationStatus.TO_ROLL_BACK


def ended_status(state: str, direction: str) -> OperationStatus:
    """How an operation of this direction ended, by the state of its job after it."""
    forward_end, *rollbacks = split_state(state)
    if direction == Direction.BACKWARD and rollbacks:
        return BACKWARD[rollbacks[-1]]
    return FORWARD[forward_end]


def job_status(
    job_id: str, state: str, forward_operation: str, backward_operation: str, position: Position
) -> OperationStatus:
    """One status for the whole job: its rollback's where there is one, else its forward operation's."""
    status = backward_status(job_id, state, backward_operation, position)
    if status is OperationStatus.NOT_NEEDED:
        return forward_status(job_id, state, forward_operation, position)
    return status
