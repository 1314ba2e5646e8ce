"""Requests that wait for an end, of whatever kind: not so many that nobody is left to answer the others."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

# Whoever waits holds one of the process's threads: beyond so many at once nobody waits, and gets the 202.
PLACES = BoundedSemaphore(4)


@contextmanager
def place() -> Iterator[bool]:
    """Whether this request may wait, in the block."""
    taken = PLACES.acquire(blocking=False)
    try:
        yield taken
    finally:
        if taken:
            PLACES.release()
