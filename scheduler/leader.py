"""The election of the beat that sends the PeriodicTasks; otherwise each beat would send all of them.

Schedules need no leader: see schedules/firing.py.
"""

import logging
import os
import socket
import time
import uuid

from django.db import Error

from jobs.sql import call
from scheduler.models import BeatLeader
from scheduler.sql import statements

log = logging.getLogger(__name__)

# How long a beat that has died still leads after its last renewal.
LEASE_SECONDS = 5.0
RENEW_SECONDS = 1.5
# The share of the lease after which a beat that cannot renew it no longer counts on it.
MARGIN = 0.2


class Leadership:
    """A lease on the only row of a table, and not a session's lock, which a pooler would share among clients.

    Not guaranteed: that a beat which is frozen after `acquire` sends nothing when it wakes up.
    """

    def __init__(self) -> None:
        self._holder = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._renewed_at: float | None = None

    def acquire(self) -> bool:
        """Return whether this beat leads, after trying to begin or to renew that."""
        began = time.monotonic()
        if self._renewed_at is not None and began - self._renewed_at < RENEW_SECONDS:
            return True
        try:
            leads = bool(call.change(statements.LEAD, {"holder": self._holder, "seconds": LEASE_SECONDS}))
        except Error as error:
            log.warning("could not renew the lease on the periodic tasks: %s", str(error).strip())
            call.close_broken_connection()
            limit = LEASE_SECONDS * (1 - MARGIN)
            leads = self._renewed_at is not None and began - self._renewed_at < limit
            self._renewed_at = self._renewed_at if leads else None
            return leads
        if leads and self._renewed_at is None:
            log.info("this beat now sends the periodic tasks")
        self._renewed_at = began if leads else None
        return leads

    def release(self) -> None:
        self._renewed_at = None
        try:
            BeatLeader.objects.filter(holder=self._holder).delete()
        except Error as error:
            log.warning("could not end the lease on the periodic tasks: %s", str(error).strip())
