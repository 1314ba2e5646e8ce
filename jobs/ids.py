"""Makes ids that grow with time, so that a big table's newest rows stay together in its indexes."""

import os
import threading
import time
import uuid
from datetime import UTC, datetime

LARGEST_NUMBER = 2**63 - 1

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


def uuid7_at(moment: datetime, *, smallest: bool = False) -> uuid.UUID:
    """A UUID of version 7 of this time; `smallest`: the least of its millisecond, as a bound."""
    tail = 0 if smallest else int.from_bytes(os.urandom(10), "big") & (2**74 - 1)
    milliseconds = max(0, int(moment.timestamp() * 1000))
    return uuid.UUID(
        int=milliseconds << 80 | 0x7 << 76 | (tail >> 62) << 64 | 0b10 << 62 | tail & (2**62 - 1)
    )


def time_of(identity: uuid.UUID) -> datetime:
    """The time in a UUID of version 7."""
    return datetime.fromtimestamp((identity.int >> 80) / 1000, UTC)


def parse_uuid(text: object) -> uuid.UUID | None:
    """The UUID that a text from outside holds; None if it holds none."""
    try:
        return uuid.UUID(text) if isinstance(text, str) else None
    except ValueError:
        return None


def parse_number(text: str | None) -> int | None:
    """The whole number that a text from outside holds, if a bigint column can hold it."""
    # Nineteen digits hold them all, and int() of a long text is not free.
    if not text or not text.isascii() or not text.isdecimal() or len(text) > 19:
        return None
    number = int(text)
    return number if number <= LARGEST_NUMBER else None
