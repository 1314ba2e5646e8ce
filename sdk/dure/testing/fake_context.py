"""A context for tests: it records what the body reports, and stops the body where a test wants it."""

import json
import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from dure.context import check_fraction
from dure.definitions import Definition
from dure.failures import Stopped
from dure.testing import submissions
from dure.testing.submissions import Submission

# The timeout of an office that sets none.
DEFAULT_TIMEOUT = 30 * 60.0


@dataclass
class FakeContext:
    """What a worker would supply. Each `run` with the same context is the next attempt of one Execution.

    `results`, `input`, `scheduled_for`: what the body reads.
    `timeout`: the seconds until `ctx.deadline`; the Task's own, or 30 minutes. Only `timeout_at` enforces it.
    `cancelled`: the run is cancelled from its start, and `ctx.cancelled` says so.
    `cancel_at`, `timeout_at`: the number of the progress report, from 1, in which a cancel or the time limit
    raises `Stopped` in the body.
    """

    attempt: int = 1
    results: Mapping[str, Any] = field(default_factory=dict)
    input: Any = None
    scheduled_for: datetime | None = None
    cancelled: bool = False
    cancel_at: int | None = None
    timeout_at: int | None = None
    execution_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    timeout: float | None = None
    logger: logging.Logger = field(default_factory=lambda: logging.getLogger("dure.task"), init=False)
    reported: list[tuple[float | None, str]] = field(default_factory=list, init=False)
    sessions: list[str] = field(default_factory=list, init=False)
    submitted: list[Submission] = field(default_factory=list, init=False)
    _started_at: datetime = field(default_factory=lambda: datetime.now(UTC), init=False, repr=False)
    _runs: int = field(default=0, init=False, repr=False)
    _submissions: int = field(default=0, init=False, repr=False)

    @property
    def idempotency_key(self) -> str:
        return self.execution_id

    @property
    def deadline(self) -> datetime:
        return self._started_at + timedelta(seconds=self.timeout or DEFAULT_TIMEOUT)

    def begin(self, definition: Definition) -> None:
        """Prepare the next attempt of this Task."""
        if self._runs:
            self.attempt += 1
        self.timeout = self.timeout or definition.timeout
        self._started_at = datetime.now(UTC)
        self._runs += 1
        self._submissions = 0
        self.reported, self.sessions = [], []
        self.logger = logging.getLogger(f"dure.task.{definition.task_id}")

    def progress(self, fraction: float | None = None, message: str = "") -> None:
        check_fraction(fraction)
        self.reported.append((fraction, message))
        number = len(self.reported)
        if number == self.cancel_at:
            self.cancelled = True
            raise Stopped("cancelled")
        if number == self.timeout_at:
            raise Stopped("timed out")

    def session(self, session_id: str) -> None:
        self.sessions.append(session_id)

    def submit(self, *jobs: Mapping[str, Any], key: str | None = None) -> list[str]:
        """Records the call, and returns the ids of an earlier one with the same key."""
        self._submissions += 1
        key = f"#{self._submissions}" if key is None else key
        for earlier in self.submitted:
            if earlier.key == key:
                return earlier.ids
        submissions.check(jobs)
        copies: Sequence[dict[str, Any]] = json.loads(json.dumps(jobs))
        submission = Submission(key, list(copies), [str(uuid.uuid4()) for _ in jobs])
        self.submitted.append(submission)
        return submission.ids
