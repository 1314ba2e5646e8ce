"""The run of an operation for tests."""

import uuid
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from dure.step_operations import Operation
from dure.testing.fake_run import FakeRun


@dataclass(kw_only=True)
class FakeStepRun(FakeRun):
    """What a worker would supply. Each run with the same one is the next attempt of one operation.

    `key`: that of the job in its run; a new one by default.
    `context`: the data that the operations share; after a run it is what the operation has left.
    `timeout`: the seconds until `step.deadline`; 30 by default. Only `timeout_at` enforces it.
    `cancelled`: a rollback was requested before the start, and `step.cancelled` says so.
    `cancel_at`, `timeout_at`: the number of the progress report, from 1, in which a cancel or the time limit
    raises `Stopped` in the operation.
    """

    default_timeout = 30.0  # the `expired_time` of a job that sets none

    key: str = field(default_factory=lambda: f"1-1-{uuid.uuid4()}")
    direction: Literal["FORWARD", "BACKWARD"] = "FORWARD"
    context: dict[str, Any] = field(default_factory=dict)

    def begin(self, operation: Operation) -> None:
        """Prepare the next attempt of this operation."""
        self.begin_attempt(f"{operation.library}.{operation.name}")

    def backward(self) -> Self:
        """The run that rolls this job back: with its key and its context."""
        return type(self)(key=self.key, direction="BACKWARD", context=self.context)
