"""The context of a run in a worker: `dure.Context`, and what the engine's own Tasks need beside it."""

import logging
import time
from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.db import connection

from dure import InvalidArgs
from dure.context import check_fraction
from jobs import lifecycle
from jobs.errors import Refused
from jobs.run_data import Results, read_occasion
from jobs.specs import Occasion
from jobs.states import TRIGGERS_OF_JOBS

if TYPE_CHECKING:
    from jobs.runner import Run

# Progress is for people, who do not read faster than this.
PROGRESS_EVERY_SECONDS = 0.25
CHECK_CANCEL_SECONDS = 1.0


class RunContext:
    """The run, as the body of its Task sees it.

    `idempotency_key` is the same for all attempts of one Execution: pass it to services outside, since
    after a crash the body may start again.
    """

    def __init__(self, run: "Run", logger: logging.Logger) -> None:
        self._run = run
        self._written = self._checked = 0.0
        self._submissions = 0
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
        """Grows with every claim of this Execution: the run with the highest fence owns it."""
        return self._run.claim.fence

    @property
    def source(self) -> str:
        """The id of what caused this Execution, unless a job did: a schedule, a step, an export."""
        return self._run.claim.source

    @property
    def deadline(self) -> datetime:
        return self._run.claim.deadline

    @property
    def idempotency_key(self) -> str:
        return self._run.claim.execution_id

    @cached_property
    def results(self) -> Results:
        """The results of the job's dependencies that are done, by their `ref` or id."""
        return Results(self.execution_id)

    @property
    def input(self) -> Any:
        """The input of the workflow run; None if there is none."""
        return self._occasion.input

    @property
    def scheduled_for(self) -> datetime | None:
        """When this run was due by its schedule or workflow; None if nothing scheduled it."""
        return self._occasion.scheduled_for

    @cached_property
    def _occasion(self) -> Occasion:
        return read_occasion(self.execution_id)

    def submit(self, *jobs: Mapping[str, Any], key: str | None = None) -> list[str]:
        """Add jobs to this job's batch, and return their ids. They are written as in a submission.

        A call submits once, however often the body is run again: its key identifies it, and is by default
        its number among the calls of the body. Give a key when the calls of two attempts may differ.
        """
        if self._run.claim.trigger not in TRIGGERS_OF_JOBS:
            raise InvalidArgs("Only a job can submit jobs: this run has no office.")
        self._submissions += 1
        key = f"#{self._submissions}" if key is None else key
        try:
            ids = lifecycle.submit_from_run(self.execution_id, self.fence, key, jobs)
        except Refused as refused:
            raise InvalidArgs(refused.summary()) from None
        return [str(job) for job in ids]

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
        """Whether this run is to stop. Reads the database at most once a second."""
        if not self._cancelled and time.monotonic() - self._checked >= CHECK_CANCEL_SECONDS:
            self._checked = time.monotonic()
            self._cancelled = lifecycle.is_cancelled(self._run.claim.execution_id, self._run.claim.fence)
        return self._cancelled

    def progress(self, fraction: float | None = None, message: str = "") -> None:
        """Report progress: a fraction from 0 to 1, a message, or both.

        Raises Fenced when this run no longer owns its Execution: do not catch it. Inside a transaction,
        as in an atomic Task, nothing is written.
        """
        check_fraction(fraction)
        if connection.in_atomic_block:
            # The row would stay locked until the transaction's end, and the heartbeat needs it.
            return
        ended = fraction == 1
        if not ended and time.monotonic() - self._written < PROGRESS_EVERY_SECONDS:
            return
        self._written = time.monotonic()
        lifecycle.progress(self._run.claim.execution_id, self._run.claim.fence, fraction, message)

    def session(self, session_id: str) -> None:
        """Record the name of the session in which this run works. Inside a transaction nothing is written."""
        if connection.in_atomic_block:
            return
        lifecycle.name_session(self._run.claim.execution_id, self._run.claim.fence, session_id)
