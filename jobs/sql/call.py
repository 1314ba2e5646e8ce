"""Calls the engine's functions and statements, and waits for a database that is away for a while."""

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from django.conf import settings
from django.db import (
    DatabaseError,
    DataError,
    IntegrityError,
    InterfaceError,
    ProgrammingError,
    connection,
)

log = logging.getLogger(__name__)

T = TypeVar("T")

LONGEST_TEXT = 20_000


def function(name: str, *args: Any, unless: tuple[str, Any] | None = None) -> Any:
    """The JSON that a function answers, or None.

    `unless` is a condition and its argument: while it holds, the function is not called.
    """
    placeholders = ", ".join(["%s"] * len(args))
    expression = f"{name}({placeholders})"
    if unless is not None:
        expression = f"CASE WHEN NOT ({unless[0]}) THEN {expression} END"
        args = (unless[1], *args)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {expression}", args)
        row = cursor.fetchone()
    return json.loads(row[0]) if row and row[0] is not None else None


def procedure(name: str, *args: Any) -> Any:
    """The JSON that a procedure answers, its last parameter, or None. It commits by itself, so no transaction
    may be open.
    """
    placeholders = ", ".join([*["%s"] * len(args), "NULL"])
    ((text,),) = rows(f"CALL {name}({placeholders})", args)
    return json.loads(text) if text is not None else None


def flush() -> None:
    """Wait until all that was committed is on the disk."""
    rows("SELECT dure_flush()")


def rows(statement: str, args: Sequence[Any] | Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, args)
        return list(cursor.fetchall())


def change(statement: str, args: Sequence[Any] | Mapping[str, Any] | None = None) -> int:
    """How many rows a guarded write changed."""
    with connection.cursor() as cursor:
        cursor.execute(statement, args)
        return int(cursor.rowcount)


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def storable_text(text: str, longest: int = LONGEST_TEXT) -> str:
    """The text as PostgreSQL can store it, cut to a length."""
    return text.replace("\x00", "\ufffd").encode(errors="replace").decode()[:longest]


def retry_while_down(statement: Callable[[], T]) -> T:
    """Call `statement` again, on a fresh connection, while the database is away, for as long as a lease.

    A COMMIT can raise and have committed. A second claim then finds its own token; a second finish finds
    that it no longer owns the run, and the sweeps do what would have followed it, but for the run that it
    has claimed: the process goes on with that.
    """
    until = time.monotonic() + settings.DURE_LEASE_SECONDS
    pause = 0.05
    while True:
        try:
            return statement()
        except (DatabaseError, InterfaceError) as error:
            # A server that goes away raises a bare DatabaseError; these three are about the statement.
            if isinstance(error, (IntegrityError, ProgrammingError, DataError)):
                raise
            if connection.in_atomic_block or time.monotonic() + pause > until:
                raise
            log.warning("the database did not answer; trying again: %s", str(error).strip())
            connection.close()
            time.sleep(pause)
            pause = min(pause * 2, 1.0)


def close_broken_connection() -> None:
    """Close the connection if its last use failed. Django's own check would be a round trip for each job."""
    raw = connection.connection
    if raw is not None and not connection.in_atomic_block and (connection.errors_occurred or raw.closed):
        connection.close()
