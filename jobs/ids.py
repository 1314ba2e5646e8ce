"""Makes ids that grow with time, so that a big table's newest rows stay together in its indexes."""

import os
import threading
import time
import uuid

_lock = threading.Lock()
_last = 0


def uuid7() -> uuid.UUID:
    """A UUID of version 7 (RFC 9562) that is greater than every one this process made before."""
    global _last  # noqa: PLW0603 (the order within a process is the point)
    with _lock:
        # 48 bits of milliseconds, then 12 bits of the millisecond's fraction, kept strictly growing.
        ticks = (time.time_ns() * 4096) // 1_000_000
        _last = ticks = max(ticks, _last + 1)
    tail = int.from_bytes(os.urandom(8), "big") & (2**62 - 1)
    value = ((ticks >> 12) << 80) | (0x7 << 76) | ((ticks & 0xFFF) << 64) | (0b10 << 62) | tail
    return uuid.UUID(int=value)
