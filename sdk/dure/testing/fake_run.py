"""What the contexts for tests share: they record progress, and stop the body where a test wants it."""

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import ClassVar

from dure.context import check_fraction
from dure.failures import Stopped


@dataclass(kw_only=True)
class FakeRun:
    """The classes of the two contexts, which tests use, describe its fields."""

    # Of a run that sets none.
    default_timeout: ClassVar[float]

    attempt: int = 1
    cancelled: bool = False
    cancel_at: int | None = None
    timeout_at: int | None = None
    timeout: float | None = None
    logger: logging.Logger = field(default_factory=lambda: logging.getLogger("dure.task"), init=False)
    reported: list[tuple[float | None, str]] = field(default_factory=list, init=False)
    _started_at: datetime = field(default_factory=lambda: datetime.now(UTC), init=False, repr=False)
    _runs: int = field(default=0, init=False, repr=False)

    @property
    def deadline(self) -> datetime:
        return self._started_at + timedelta(seconds=self.timeout or self.default_timeout)

    def begin_attempt(self, name: str, timeout: float | None = None) -> None:
        """Prepare the next attempt; the timeout is the one of the definition."""
        if self._runs:
            self.attempt += 1
        self._runs += 1
        self.timeout = self.timeout or timeout
        self._started_at = datetime.now(UTC)
        self.reported = []
        self.logger = logging.getLogger(f"dure.task.{name}")

    def progress(self, fraction: float | None = None, message: str = "") -> None:
        check_fraction(fraction)
        self.reported.append((fraction, message))
        number = len(self.reported)
        if number == self.cancel_at:
            self.cancelled = True
            raise Stopped("cancelled")
        if number == self.timeout_at:
            raise Stopped("timed out")
