"""Limits the requests that wait for a result, so that threads remain for the others."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

# A waiting request holds a thread. Beyond this number, requests do not wait and answer 202.
SLOTS = BoundedSemaphore(4)


@contextmanager
def waiting_slot() -> Iterator[bool]:
    """Yields whether this request may wait."""
    acquired = SLOTS.acquire(blocking=False)
    try:
        yield acquired
    finally:
        if acquired:
            SLOTS.release()
