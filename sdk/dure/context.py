"""What a Task's body sees of its run. The worker supplies it; `dure.testing` has one for tests."""

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol


class Context(Protocol):
    """The first argument of every Task's body."""

    @property
    def execution_id(self) -> str:
        """The id of this Execution, the same over all attempts."""

    @property
    def attempt(self) -> int:
        """1 for the first attempt."""

    @property
    def deadline(self) -> datetime:
        """When this attempt times out, with its time zone."""

    @property
    def idempotency_key(self) -> str:
        """The same over all attempts: pass it to services outside, since a body may start again."""

    @property
    def logger(self) -> logging.Logger:
        """A logger named after the Task; its lines are in the log of the run."""

    @property
    def results(self) -> Mapping[str, Any]:
        """The results of the job's dependencies that are done, by their `ref` or id."""

    @property
    def input(self) -> Any:
        """The input of the workflow run; None if there is none."""

    @property
    def scheduled_for(self) -> datetime | None:
        """When this run was due by its schedule or workflow; None if nothing scheduled it."""

    @property
    def cancelled(self) -> bool:
        """Whether this run is to stop. Asks the database at most once a second."""

    def progress(self, fraction: float | None = None, message: str = "") -> None:
        """Report progress: a fraction from 0 to 1, a message, or both. Call it as often as you like.

        It raises an exception when another run owns the Execution by now: do not catch it. Inside a
        transaction, as in an atomic Task, nothing is written.
        """

    def session(self, session_id: str) -> None:
        """Record the name of the remote session or process that does the work; shown as `session_id`."""

    def submit(self, *jobs: Mapping[str, Any], key: str | None = None) -> list[str]:
        """Add jobs to this job's batch, and return their ids. They are written as in a submission.

        A call submits once, however often the body is run again: its key identifies it, and is by default
        its number among the calls of the body. Give a key when the calls of two attempts may differ.
        """


def check_fraction(fraction: float | None) -> None:
    if fraction is not None and not 0 <= fraction <= 1:
        raise ValueError(f"progress takes a fraction between 0 and 1, not {fraction!r}.")
