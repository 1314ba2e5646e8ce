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


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise SoftTimeLimitExceeded inside when the time is over. Only a main thread receives signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _time_is_over)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _time_is_over(number: int, frame: object) -> None:
    raise SoftTimeLimitExceeded()
