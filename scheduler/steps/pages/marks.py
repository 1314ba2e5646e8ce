"""What became of each operation of a walk, told from the words of its job's state. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from scheduler.steps.states import NO_OPERATION, Direction, JobState


class Mark(StrEnum):
    """How an operation stands, as a reader wants to know it."""

    NOT_YET = "not_yet"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    TOO_LONG = "too_long"
    NO_LIBRARY = "no_library"
    NOTHING = "nothing"
    # From here on of backward operations only.
    NOT_NEEDED = "not_needed"
    AHEAD = "ahead"
    UNDOING = "undoing"
    UNDONE = "undone"
    UNDO_FAILED = "undo_failed"


FORWARD = {
    JobState.NOTYET: Mark.NOT_YET,
    JobState.NOLIB: Mark.NO_LIBRARY,
    JobState.SUCCESS: Mark.DONE,
    JobState.FAILED: Mark.FAILED,
    JobState.TIMEOUT: Mark.TOO_LONG,
}
BACKWARD = {JobState.CANCELED: Mark.UNDONE, JobState.FAILED: Mark.UNDO_FAILED}
# Of these nothing was begun that could be undone.
NEVER_BEGUN = (JobState.NOTYET, JobState.NOLIB)


@dataclass(frozen=True)
class Standing:
    """Where a queue's walk is: `at` is the job whose operation runs, empty when none does."""

    at: str
    direction: str

    def is_at(self, job_id: str, direction: str) -> bool:
        return self.at == job_id and self.direction == direction

    @property
    def turns_back(self) -> bool:
        return bool(self.at) and self.direction == Direction.BACKWARD


def words(state: str) -> list[JobState]:
    """The parts of "SUCCESS, FAILED, CANCELED": the forward one, then one for each time it was undone."""
    return [JobState(word) for word in state.split(", ")]


def forward(job_id: str, state: str, operation: str, standing: Standing) -> Mark:
    if standing.is_at(job_id, Direction.FORWARD):
        return Mark.RUNNING
    mark = FORWARD[words(state)[0]]
    return Mark.NOTHING if mark is Mark.DONE and operation == NO_OPERATION else mark


def backward(job_id: str, state: str, operation: str, standing: Standing) -> Mark:
    if standing.is_at(job_id, Direction.BACKWARD):
        return Mark.UNDOING
    first, *undone = words(state)
    if undone:
        mark = BACKWARD[undone[-1]]
        return Mark.NOTHING if mark is Mark.UNDONE and operation == NO_OPERATION else mark
    if first in NEVER_BEGUN or not standing.turns_back:
        return Mark.NOT_NEEDED
    return Mark.NOTHING if operation == NO_OPERATION else Mark.AHEAD
