"""Counts rare events in rows, since the processes of a worker share no memory.

A count that fails is logged, and never raised.
"""

import logging

from django.db import DatabaseError, InterfaceError, connection

from jobs.sql import call, statements

log = logging.getLogger(__name__)

FENCED = "fenced"  # writes of a run that was no longer the owner's
DUPLICATES = "duplicates"  # messages that found nothing to claim
RESCUED = "rescued"  # leases that ran out
LOST = "lost"  # pool processes that died
RESENT = "resent"  # messages that were republished
RESEEDED = "reseeded"  # times that Redis had lost its data
POISON = "poison"  # Executions that failed because they kill their workers
ALL = (FENCED, DUPLICATES, RESCUED, LOST, RESENT, RESEEDED, POISON)


def add(name: str, count: int = 1) -> None:
    if connection.in_atomic_block:
        return  # it would be undone with what surrounds it, or hold the row until then
    try:
        call.change(statements.ADD_TO_COUNTER, [name, count])
    except (DatabaseError, InterfaceError) as error:
        log.warning("could not count %s %s: %s", count, name, error)
