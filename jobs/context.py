"""What a Task's body is given: who it is, how long it has, and how to say how far it got."""

import logging
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import connection

from jobs import lifecycle

if TYPE_CHECKING:
    from jobs.runner import Run

# Progress is for people: a row written more often than this tells them nothing new.
PROGRESS_EVERY_SECONDS = 0.25
ASK_EVERY_SECONDS = 1.0


class Context:
    """Handed to every body as its first argument.

    `idempotency_key` stays the same over all attempts of one Execution: give it to whatever the body
    calls outside, since after a crash the body may start again.
    """

    def __init__(self, run: "Run", logger: logging.Logger) -> None:
        self._run = run
        self._written = self._asked = 0.0
        self._cancelled = False
        self.logger = logger

    @property
    def execution_id(self) -> str:
        return self._run.claim.execution_id

    @property
    def attempt(self) -> int:
        return self._run.claim.attempt

    @property
    def fence(self) -> int:
        """Grows with every start of this Execution: the one with the highest owns it."""
        return self._run.claim.fence

    @property
    def source(self) -> str:
        """The id of what caused this Execution, when that is no job: a schedule, a step, an export."""
        return self._run.claim.source

    @property
    def deadline(self) -> datetime:
        return self._run.claim.deadline

    @property
    def idempotency_key(self) -> str:
        return self._run.claim.execution_id

    @property
    def extra(self) -> Any:
        """A value for the handler of this run's end (`lifecycle.on_end`), beside the result.

        It is handed over in memory: when another process reports the end, the handler gets None.
        """
        return self._run.extra

    @extra.setter
    def extra(self, value: Any) -> None:
        self._run.extra = value

    @property
    def cancelled(self) -> bool:
        """Has somebody asked this run to stop? Asks the database at most once a second."""
        if not self._cancelled and time.monotonic() - self._asked >= ASK_EVERY_SECONDS:
            self._asked = time.monotonic()
            self._cancelled = lifecycle.is_cancelled(self._run.claim.execution_id, self._run.claim.fence)
        return self._cancelled

    def progress(self, fraction: float | None = None, message: str = "") -> None:
        """Say how far the work is: a fraction of 0 to 1, a message, or both.

        Raises Fenced when this run no longer owns its Execution: let it pass, and stop. Inside a
        transaction, as in an atomic Task, nothing is written.
        """
        if fraction is not None and not 0 <= fraction <= 1:
            raise ValueError(f"progress takes a fraction between 0 and 1, not {fraction!r}.")
        if connection.in_atomic_block:
            # The row would stay locked until the transaction's end, and the heartbeat needs it.
            return
        ended = fraction == 1
        if not ended and time.monotonic() - self._written < PROGRESS_EVERY_SECONDS:
            return
        self._written = time.monotonic()
        lifecycle.progress(self._run.claim.execution_id, self._run.claim.fence, fraction, message)

    def session(self, session_id: str) -> None:
        """Name the session that carries this run, for those who look at it from outside.

        Not inside a transaction, for the same reason as with progress.
        """
        if connection.in_atomic_block:
            return
        lifecycle.name_session(self._run.claim.execution_id, self._run.claim.fence, session_id)
