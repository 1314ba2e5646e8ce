"""The effect of a message on an export: pure functions.

Messages may be repeated, late or out of order. Each function answers the next state, or None when the
message changes nothing.
"""

from dataclasses import dataclass, replace

from exports.messages import Progress, Result
from exports.states import Phase, Status, may_become

_RANKS = {Phase.PREPARING.value: 0, Phase.FINALIZING.value: 2}


@dataclass(frozen=True, slots=True)
class State:
    status: Status
    progress: int = 0
    phase: str = ""


def advance(state: State, message: Progress) -> State | None:
    """Progress moves forward only; at equal progress a later phase counts."""
    if state.status == Status.RUNNING:
        if _position(message.progress, message.phase) <= _position(state.progress, state.phase):
            return None
    elif not may_become(state.status, Status.RUNNING):
        return None
    return State(Status.RUNNING, message.progress, message.phase or state.phase)


def settle(state: State, message: Result) -> State | None:
    """The first result wins; nothing leaves a terminal state."""
    if not may_become(state.status, message.status):
        return None
    progress = 100 if message.status == Status.SUCCEEDED else state.progress
    return replace(state, status=message.status, progress=progress)


def _position(progress: int, phase: str) -> tuple[int, int]:
    """The order of progress. The own phases of a foreign worker rank in the middle."""
    return progress, _RANKS.get(phase, 1)
