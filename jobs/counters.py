"""Counts what should be rare, in rows: the processes of a worker share no memory.

Each count is a statement of its own, and never in the way: what cannot be counted is logged anyway.
"""

import logging

from django.db import DatabaseError, InterfaceError, connection

from jobs.sql import call, statements

log = logging.getLogger(__name__)

FENCED = "fenced"  # writes of a run that was no longer the owner's
DUPLICATES = "duplicates"  # messages that found nothing to claim
RESCUED = "rescued"  # leases that ran out
LOST = "lost"  # pool processes that were seen to die
RESENT = "resent"  # messages published again
RESEEDED = "reseeded"  # times that Redis had forgotten everything
POISON = "poison"  # Executions put aside because they kill their workers
ALL = (FENCED, DUPLICATES, RESCUED, LOST, RESENT, RESEEDED, POISON)


def add(name: str, count: int = 1) -> None:
    if connection.in_atomic_block:
        return  # it would be undone with what surrounds it, or hold the row until then
    try:
        call.change(statements.ADD_TO_COUNTER, [name, count])
    except (DatabaseError, InterfaceError) as error:
        log.warning("could not count %s %s: %s", count, name, error)
