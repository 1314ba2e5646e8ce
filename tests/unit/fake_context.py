"""A substitute for jobs.context.Context, for running a body without a database."""

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


@dataclass
class FakeContext:
    execution_id: str = "0190a0b0-0000-7000-8000-000000000001"
    attempt: int = 1
    deadline: datetime = field(default_factory=lambda: datetime.now(UTC) + timedelta(minutes=5))
    idempotency_key: str = "0190a0b0-0000-7000-8000-000000000001"
    cancelled: bool = False
    logger: logging.Logger = field(default_factory=lambda: logging.getLogger("test"))
    reported: list[tuple[float | None, str]] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)

    def progress(self, fraction: float | None = None, message: str = "") -> None:
        self.reported.append((fraction, message))

    def session(self, session_id: str) -> None:
        self.sessions.append(session_id)
