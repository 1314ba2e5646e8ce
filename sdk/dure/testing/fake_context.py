"""The context of a Task for tests."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from dure.definitions import Definition
from dure.testing import submissions
from dure.testing.fake_run import FakeRun
from dure.testing.submissions import Submission


@dataclass(kw_only=True)
class FakeContext(FakeRun):
    """What a worker would supply. Each `run` with the same context is the next attempt of one Execution.

    `results`, `input`, `scheduled_for`: what the body reads.
    `timeout`: the seconds until `ctx.deadline`; the Task's own, or 30 minutes. Only `timeout_at` enforces it.
    `cancelled`: the run is cancelled from its start, and `ctx.cancelled` says so.
    `cancel_at`, `timeout_at`: the number of the progress report, from 1, in which a cancel or the time limit
    raises `Stopped` in the body.
    """

    default_timeout = 30 * 60.0  # of an office that sets none

    results: Mapping[str, Any] = field(default_factory=dict)
    input: Any = None
    scheduled_for: datetime | None = None
    execution_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    sessions: list[str] = field(default_factory=list, init=False)
    submitted: list[Submission] = field(default_factory=list, init=False)
    _submissions: int = field(default=0, init=False, repr=False)

    @property
    def idempotency_key(self) -> str:
        return self.execution_id

    def begin(self, definition: Definition) -> None:
        """Prepare the next attempt of this Task."""
        self.begin_attempt(definition.task_id, definition.timeout)
        self._submissions = 0
        self.sessions = []

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
