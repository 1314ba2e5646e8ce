"""A run's soft time limit: an alarm in the very process that runs it.

It costs a system call, where a time limit of Celery's keeps a timer in the worker's main process until its
time has come, for each task that ever ran. What ignores the alarm is killed by the heart at the first beat
after the grace.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from celery.exceptions import SoftTimeLimitExceeded


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raises SoftTimeLimitExceeded inside when the time is over. Only a main thread hears signals."""
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
