"""The beats of the installation, by the rows that they write while they look for due work.

Not guaranteed: that a beat without a row has stopped. One that cannot reach the database, or whose pass
fails, counts as absent too, since it starts nothing.
"""

import os
import socket
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, Q
from django.db.models.functions import Now

from jobs.sql import call
from scheduler.models import Beat
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
    Beat.objects.filter(pk=name).delete()


def status() -> BeatStatus:
    is_running = Q(seen_at__gt=Now() - ABSENT_AFTER)
    seen = Beat.objects.aggregate(running=Count("pk", filter=is_running), last_seen=Max("seen_at"))
    return BeatStatus(**seen)
