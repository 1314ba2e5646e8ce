"""The position of a queue's run and the jobs around it, as the SQL functions read them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from scheduler.steps.transitions import StepNode


@dataclass(frozen=True)
class StepRow:
    """A job's row, as dure_steps_between reads it."""

    number: int
    node: StepNode
    library: str
    expired_time: float
    undo_retries: int | None

    @classmethod
    def read(cls, row: Sequence[Any]) -> Self:
        job_id, number, state, prev_job, next_job, forward, backward, *values = row
        return cls(number, StepNode(job_id, state, prev_job, next_job, forward, backward), *values)


@dataclass(frozen=True)
class Position:
    """The position of a queue's run, as dure_step_read returns it."""

    run: int
    direction: str
    running_job: str
    cancelled: bool = False
    # One backward operation was rerun by hand; the run ends after it.
    rerun: bool = False
    steps: Sequence[StepRow] = ()

    @classmethod
    def read(cls, answer: dict[str, Any]) -> Self:
        return cls(
            run=answer["run"],
            direction=answer["direction"],
            running_job=answer["running_job"],
            cancelled=answer["cancelled"],
            rerun=answer["again"],
            steps=[StepRow.read(row) for row in answer["jobs"]],
        )
