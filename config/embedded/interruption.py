"""Turns signals into a flag that every wait looks at, so that stopping happens in known places only."""

import signal
import time
from collections.abc import Callable
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# Ctrl-C reaches us twice, from the terminal and passed on by who started us; that is one wish, not two.
ONE_WISH_SECONDS = 0.5

_received: list[tuple[int, float]] = []


class Interrupted(Exception):
    """Somebody asked us to stop: Ctrl-C, a TERM, or a terminal that was closed."""


def listen() -> None:
    for number in STOP_SIGNALS:
        # Under nohup a hang-up is meant to be ignored, and stays so.
        if number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN:
            continue
        signal.signal(number, _note)


def _note(number: int, frame: FrameType | None) -> None:
    now = time.monotonic()
    if not _received or now - _received[-1][1] > ONE_WISH_SECONDS:
        _received.append((number, now))


def check() -> None:
    if _received:
        raise Interrupted(signal.Signals(_received[0][0]).name)


def is_impatient() -> bool:
    """Asked a second time: whoever waits for a polite end kills instead."""
    return len(_received) > 1


def wait_until(condition: Callable[[], bool], *, seconds: float, pause: float = 0.02) -> bool:
    """Whether the condition came true in time. Raises Interrupted when asked to stop meanwhile."""
    deadline = time.monotonic() + seconds
    while not condition():
        check()
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True
