"""What comes next on a walk. Pure: the jobs' links, states and operations go in, the next place comes out.

FORWARD   success → the next job, or the end at TAIL
          failure, timeout, or a cancelled run → BACKWARD, beginning with this job's own operation
NOLIB     nothing to run in either direction → BACKWARD, beginning with the job before
BACKWARD  success or failure → the job before, or the end at HEAD
"""

from dataclasses import dataclass
from enum import StrEnum

from scheduler.steps.states import HEAD, NO_OPERATION, TAIL, Direction, JobState, appended


class Ended(StrEnum):
    """How an operation ended."""

    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"


@dataclass(frozen=True)
class Here:
    """A job, as far as the walk has to know it."""

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
class Passed:
    """What the job's state is now, and where the walk goes: to a job (the same one, too), HEAD or TAIL."""

    state: str
    direction: str
    to: str

    @property
    def is_over(self) -> bool:
        return self.to in (HEAD, TAIL)


def passed(here: Here, direction: str, ended: Ended, *, cancelled: bool = False) -> Passed:
    """An operation of this job has ended; `cancelled` when somebody wants the run to turn back."""
    if direction == Direction.BACKWARD:
        word = JobState.CANCELED if ended is Ended.SUCCESS else JobState.FAILED
        return Passed(appended(here.state, word), Direction.BACKWARD, here.prev_job)
    if ended is Ended.SUCCESS and not cancelled:
        return Passed(JobState.SUCCESS, Direction.FORWARD, here.next_job)
    return Passed(JobState(ended), Direction.BACKWARD, here.job_id)


def passed_without_library(here: Here) -> Passed:
    """It cannot be run, so it has nothing to be undone either."""
    return Passed(JobState.NOLIB, Direction.BACKWARD, here.prev_job)
