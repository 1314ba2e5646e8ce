"""The runs of the messages that this worker has accepted, as its lease keeper follows them."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from celery.worker import state as worker_state

from jobs.log_fields import about_run
from jobs.subprocesses import process_tree


@dataclass
class LeasedRun:
    """The run of a message that this worker has accepted, with the state of its lease.

    Until its claim was seen, the Execution is the one that the message names. A message may run others, one
    after the other: see jobs/burst.py.
    """

    message: str
    execution: str
    dispatch: int
    pid: int | None
    confirmed: float  # CLOCK_BOOTTIME of the last time at which the lease was certainly valid
    claimed: bool = False
    stop_requested_at: float | None = None
    renewals_over: int = 0
    # For the lines of the log, once it is claimed.
    job: UUID | None = None
    attempt: int = 0

    def has_process(self) -> bool:
        process = process_tree.read_process(self.pid) if self.pid else None
        return process is not None and not process.dead

    def in_log(self) -> AbstractContextManager[None]:
        return about_run(self.execution, job=self.job, attempt=self.attempt)

    def follow(self, execution: str, dispatch: int, job: UUID | None, attempt: int) -> None:
        """The message runs this Execution now."""
        self.job, self.attempt = job, attempt
        if (execution, dispatch) != (self.execution, self.dispatch):
            self.execution, self.dispatch = execution, dispatch
            self.stop_requested_at, self.renewals_over = None, 0
        self.claimed = True


def active_requests() -> list[Any]:
    """The accepted requests of registered Tasks."""
    for _ in range(10):
        try:
            requests = list(worker_state.active_requests)
        except RuntimeError:  # the main loop changed the set meanwhile
            continue
        return [request for request in requests if hasattr(request, "engine_request")]
    return []
