"""One beat at a time sends the PeriodicTasks, because their own scheduler would send them once a beat.

Schedules need no leader: see lifecycle/firing.py.
"""

import logging

from django.db import Error, connection
from django.db.backends.base.base import BaseDatabaseWrapper

log = logging.getLogger(__name__)

LOCK = 0x64757265  # the same in every beat


class Leadership:
    """A session's advisory lock, on a connection that is kept for nothing else.

    It ends with the process or its connection, and the next beat that asks has it. Not guaranteed: that
    a beat whose connection was cut stops in the same moment; it asks at every tick.
    """

    def __init__(self) -> None:
        self._connection: BaseDatabaseWrapper | None = None
        self._held = False

    def held(self) -> bool:
        try:
            if self._connection is None:
                self._connection = connection.copy()
            with self._connection.cursor() as cursor:
                # Asked again, a lock that is held would have to be given back as often.
                cursor.execute("SELECT true" if self._held else f"SELECT pg_try_advisory_lock({LOCK})")
                row = cursor.fetchone()
            if row and row[0] and not self._held:
                log.info("this beat sends the periodic tasks now")
            self._held = bool(row and row[0])
        except Error as error:
            log.warning("lost the lock on the periodic tasks: %s", error)
            self.give_up()
        return self._held

    def give_up(self) -> None:
        broken, self._connection, self._held = self._connection, None, False
        if broken is not None:
            broken.close()
