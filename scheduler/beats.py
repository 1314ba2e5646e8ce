"""The beats of the installation, by the rows that they write while they look for due work.

Not guaranteed: that a beat without a row has stopped. One that cannot reach the database, or whose pass
fails, counts as absent too, since it starts nothing.
"""

import os
import socket
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.sql import call
from scheduler.sql import statements

SEEN_EVERY = 3.0
ABSENT_AFTER = timedelta(seconds=10)


@dataclass(frozen=True)
class BeatStatus:
    """`running` counts the beats that were seen within ABSENT_AFTER."""

    running: int
    last_seen: datetime | None


def own_name() -> str:
    return f"beat@{socket.gethostname()}:{os.getpid()}"


def mark_seen(name: str) -> None:
    call.change(statements.MARK_BEAT_SEEN, {"name": name})


def forget(name: str) -> None:
    """Called by a beat that stops, so that its absence shows at once."""
    call.change("DELETE FROM beats WHERE name = %(name)s", {"name": name})


def status() -> BeatStatus:
    running, last_seen = call.rows(statements.BEAT_STATUS, {"absent": ABSENT_AFTER})[0]
    return BeatStatus(running, last_seen)
