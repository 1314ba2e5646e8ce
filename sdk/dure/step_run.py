"""What an operation of a step queue sees of its run: of a worker's, or of `dure.testing`'s."""

import logging
from datetime import datetime
from typing import Any, Protocol


class StepRun(Protocol):
    """The first argument of every operation."""

    @property
    def key(self) -> str:
        """The same for both operations of this job in this run of its queue, and for every attempt: what the
        forward operation creates outside under this key, the backward operation finds under it."""

    @property
    def direction(self) -> str:
        """`FORWARD` or `BACKWARD`."""

    @property
    def context(self) -> dict[str, Any]:
        """The data that the operations of this run share. Change it in place; it must be JSON."""

    @property
    def attempt(self) -> int:
        """1 for the first attempt."""

    @property
    def deadline(self) -> datetime:
        """When this attempt times out, with its time zone."""

    @property
    def cancelled(self) -> bool:
        """Whether a rollback was requested. Asks the database at most once a second."""

    @property
    def logger(self) -> logging.Logger:
        """Its lines are in the log of the run."""

    def progress(self, fraction: float | None = None, message: str = "") -> None:
        """Report progress: a fraction from 0 to 1, a message, or both. Call it as often as you like."""
