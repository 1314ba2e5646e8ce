"""Progress by frames written: phase by phase, never backwards, at most four times a second."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from exports.states import Phase

# The percentages that each phase covers. Rendering is nearly everything.
SHARES = {Phase.PREPARING: (0, 2), Phase.RENDERING: (2, 94), Phase.FINALIZING: (94, 99)}
MIN_GAP_SECONDS = 0.25


class Cancelled(Exception):
    """The export was cancelled."""


@dataclass(frozen=True, slots=True)
class Report:
    progress: int
    phase: Phase
    done: int
    total: int
    eta_seconds: float | None

    def message(self) -> str:
        if self.phase != Phase.RENDERING:
            return self.phase.value.capitalize()
        left = "" if self.eta_seconds is None else f", {self.eta_seconds:.0f} s left"
        return f"{self.done} of {self.total} frames{left}"


def percent(phase: Phase, done: int, total: int) -> int:
    """Below 100: only a result ends an export."""
    low, high = SHARES[phase]
    share = min(max(done / total, 0.0), 1.0) if total > 0 else 0.0
    return int(low + (high - low) * share)


class Meter:
    """Reports progress to `send`, and raises Cancelled once `cancelled` is true."""

    def __init__(
        self,
        send: Callable[[Report], None],
        cancelled: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._send, self._cancelled, self._clock = send, cancelled, clock
        self._phase: Phase | None = None
        self._phase_began = self._sent_at = 0.0
        self._best = -1

    def check(self) -> None:
        """Raises Cancelled if the export was cancelled."""
        if self._cancelled():
            raise Cancelled

    def at(self, phase: Phase, done: int = 0, total: int = 0) -> None:
        self.check()
        now = self._clock()
        changed = phase != self._phase
        if changed:
            self._phase, self._phase_began = phase, now
        if not changed and now - self._sent_at < MIN_GAP_SECONDS:
            return
        self._sent_at = now
        self._best = max(self._best, percent(phase, done, total))
        self._send(Report(self._best, phase, done, total, self._eta(now, done, total)))

    def _eta(self, now: float, done: int, total: int) -> float | None:
        spent = now - self._phase_began
        if not done or spent < MIN_GAP_SECONDS:
            return None
        return spent / done * max(total - done, 0)
