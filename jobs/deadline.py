"""A run's soft time limit: an alarm in the process that runs it.

It costs a system call, while a time limit of Celery's keeps a timer in the worker's main process until its
time has come, for each task that ever ran. The lease keeper kills a run that ignores the alarm, at the first
renewal after the grace.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from celery.exceptions import SoftTimeLimitExceeded

from dure import Stopped

# What interrupts a run: its time limit, and a request to stop.
SIGNALS = {signal.SIGALRM, signal.SIGUSR1}
# While they are held back, those that came all the same: the mask is the main thread's, and when another
# thread of the process takes a signal, its handler still runs in the main thread.
_held: set[int] | None = None


class Interrupted(SoftTimeLimitExceeded, Stopped):  # type: ignore[misc]
    """What a body sees when its time is over or its run is to stop, by the names of Celery and of dure."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise Interrupted inside when the time is over or a stop is requested: only in a main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _interrupt) for number in SIGNALS}
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def hold_signals() -> None:
    """Hold back what interrupts a run, while its end is written: what comes then comes too late."""
    global _held  # noqa: PLW0603 (signals are the process's)
    if threading.current_thread() is threading.main_thread():
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        _held = set()


def drop_signals() -> None:
    """Forget what has come since `hold_signals`: it was meant for a run that has ended."""
    if threading.current_thread() is threading.main_thread():
        signal.setitimer(signal.ITIMER_REAL, 0)
        while signal.sigtimedwait(SIGNALS, 0) is not None:
            pass
        if _held is not None:
            _held.clear()


def resume_signals() -> None:
    global _held
    if threading.current_thread() is threading.main_thread():
        came, _held = _held or (), None
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        for number in came:
            signal.raise_signal(number)


def _interrupt(number: int, frame: object) -> None:
    if _held is not None:
        _held.add(number)
        return
    raise Interrupted()
