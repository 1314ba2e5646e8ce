"""How PostgreSQL is set up: to keep what it was given, to clean up after itself, to let everybody in."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings

from config.doctor import sql
from config.doctor.finding import Finding, bad, ok, warn
from jobs.sql import call

# Of the connections: beyond this it is time to do something.
CROWDED = 0.8
# Beat holds two, a listener and each command one, and somebody looks around with psql.
OTHERS = 10
DEAD_ROWS = 100_000
DEAD_SHARE = 0.5
ASKED = (
    *("max_connections", "superuser_reserved_connections", "autovacuum", "track_counts"),
    *("fsync", "full_page_writes", "synchronous_commit", "server_encoding", "transaction_read_only"),
)


def checks() -> Iterator[Finding]:
    known = dict(call.rows(sql.SETTINGS, [list(ASKED)]))
    yield from durable(known)
    yield from vacuum(known, worst_tables())
    most = int(known["max_connections"]) - int(known["superuser_reserved_connections"])
    yield connections(most, call.rows(sql.CLIENTS)[0][0], expected())


def durable(known: dict[str, str]) -> Iterator[Finding]:
    yield encoding(known.get("server_encoding", ""))
    if known.get("transaction_read_only") == "on":
        yield bad("writing", "the server only reads: a standby", "name the primary in DATABASE_URL")
    off = [name for name in ("fsync", "full_page_writes") if known.get(name) == "off"]
    if off:
        judged = bad if settings.PRODUCTION else warn
        yield judged(
            "durability",
            f"{' and '.join(off)} off: a power cut can destroy the database",
            "turn it on, unless the data may be lost",
        )
    elif known.get("synchronous_commit") == "off":
        yield warn(
            "durability",
            "synchronous_commit is off: a crash forgets the last half second of what was accepted",
            "turn it on, for work that was accepted must not be lost",
        )
    else:
        yield ok("durability", f"fsync on, synchronous_commit {known.get('synchronous_commit')}")


def encoding(name: str) -> Finding:
    if name == "UTF8":
        return ok("encoding", name)
    return bad("encoding", name or "unknown", "make the database anew with ENCODING 'UTF8'")


# Schema, table, living rows, dead rows.
Table = tuple[str, int, int]


def worst_tables() -> list[Table]:
    found: list[Any] = call.rows(sql.DEAD_ROWS)
    return found


def vacuum(known: dict[str, str], tables: Sequence[Table]) -> Iterator[Finding]:
    if known.get("autovacuum") != "on" or known.get("track_counts") != "on":
        yield bad(
            "autovacuum",
            "off: tables that change all the time grow without end",
            "set autovacuum = on and track_counts = on, and reload",
        )
        return
    bloated = [
        f"{name} ({dead:,} dead rows of {live + dead:,})"
        for name, live, dead in tables
        if dead > DEAD_ROWS and dead > DEAD_SHARE * live
    ]
    if bloated:
        yield warn(
            "autovacuum",
            f"on, and behind: {', '.join(bloated)}",
            "end transactions that stay open (pg_stat_activity), or give autovacuum more cost limit",
        )
    else:
        yield ok("autovacuum", "on, and keeps up")


def expected() -> int:
    """Connections that the web process and the workers that are known may come to hold."""
    ((slots,),) = call.rows(sql.SLOTS)
    return settings.DURE_WEB_THREADS + int(slots) + OTHERS


def connections(most: int, used: int, wanted: int) -> Finding:
    said = f"{used} of {most} in use; one web process and the workers may take {wanted}"
    advice = "raise max_connections, lower DURE_WEB_THREADS, or end what holds them (pg_stat_activity)"
    if used >= most * CROWDED or wanted > most:
        return warn("connections", said, advice)
    return ok("connections", said)
