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


def leave_signals_to_main_thread() -> None:
    """For our other threads in a pool process: else the kernel hands them what the main thread holds back,
    and the handler runs in the main thread all the same.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def hold_signals() -> None:
    """Hold back what interrupts a run, while its end is written: what comes then comes too late."""
    if threading.current_thread() is threading.main_thread():
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def drop_signals() -> None:
    """Forget what has come since `hold_signals`: it was meant for a run that has ended."""
    if threading.current_thread() is threading.main_thread():
        signal.setitimer(signal.ITIMER_REAL, 0)
        while signal.sigtimedwait(SIGNALS, 0) is not None:
            pass


def resume_signals() -> None:
    if threading.current_thread() is threading.main_thread():
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def _interrupt(number: int, frame: object) -> None:
    raise Interrupted()
