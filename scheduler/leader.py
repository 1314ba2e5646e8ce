"""The election of the beat that sends the PeriodicTasks; otherwise each beat would send all of them.

Schedules need no leader: see schedules/firing.py.
"""

import logging

from django.db import Error, connection
from django.db.backends.base.base import BaseDatabaseWrapper

log = logging.getLogger(__name__)

LOCK = 0x64757265  # the same in every beat


class Leadership:
    """A session's advisory lock, on a connection of its own.

    PostgreSQL releases the lock when the process or its connection ends, and the next beat that tries gets
    it. Not guaranteed: that a beat stops at the moment its connection breaks; it checks at every tick.
    """

    def __init__(self) -> None:
        self._connection: BaseDatabaseWrapper | None = None
        self._held = False

    def acquire(self) -> bool:
        """Return whether this beat holds the lock, after trying to get it."""
        try:
            if self._connection is None:
                self._connection = connection.copy()
            with self._connection.cursor() as cursor:
                # A session that gets the lock twice would have to release it twice.
                cursor.execute("SELECT true" if self._held else f"SELECT pg_try_advisory_lock({LOCK})")
                row = cursor.fetchone()
            if row and row[0] and not self._held:
                log.info("this beat now sends the periodic tasks")
            self._held = bool(row and row[0])
        except Error as error:
            log.warning("lost the lock on the periodic tasks: %s", error)
            self.release()
        return self._held

    def release(self) -> None:
        broken, self._connection, self._held = self._connection, None, False
        if broken is not None:
            broken.close()
