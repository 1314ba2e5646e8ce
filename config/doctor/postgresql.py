"""PostgreSQL: that it answers, that it is new enough, what time it has, and who stands between."""

import time
from collections.abc import Iterator
from typing import Any

import psycopg2
from django.conf import settings
from django.db import connection

from config.doctor import sql
from config.doctor.finding import Finding, bad, ok, warn
from config.doctor.patience import SECONDS, NoAnswer, in_short, within
from jobs.sql import call

SKEW_WARN, SKEW_BAD = 1.0, 5.0


def reachable() -> Finding:
    """Whether anything else can be asked; asked in a way that ends."""
    values: dict[str, Any] = {**connection.get_connection_params(), "connect_timeout": int(SECONDS)}
    for name in ("cursor_factory", "context"):
        values.pop(name, None)
    try:
        within(SECONDS, lambda: psycopg2.connect(**values).close())
    except (psycopg2.Error, NoAnswer) as error:
        return bad("connection", f"{place()}: {in_short(error)}", f"{advice(in_short(error))}")
    return ok("connection", f"{place()} answers")


def place() -> str:
    """Where it is, without the password."""
    found = settings.DATABASES["default"]
    host = f"{found['HOST']}:{found['PORT'] or 5432}" if found["HOST"] else "the local socket"
    return f"{found['USER'] or '?'}@{host}/{found['NAME']}"


def advice(said: str) -> str:
    if "password" in said or "authentication" in said:
        return "set the user and the password that DATABASE_URL names to those of the server"
    if "does not exist" in said:
        return "create it (createdb), or name another one in DATABASE_URL"
    if "too many" in said or "remaining connection slots" in said:
        return "raise max_connections, or lower DURE_WEB_THREADS"
    return "start it, or set DATABASE_URL to where it is; `make up` brings one along"


def checks() -> Iterator[Finding]:
    with connection.cursor() as cursor:
        cursor.execute(sql.BE_QUICK)
    yield version()
    yield clock(*skew())
    yield pooler(call.rows(sql.OWN_PROCESS)[0][0], connection.connection.get_backend_pid())


def version() -> Finding:
    number = connection.pg_version  # type: ignore[attr-defined]
    text = f"{number // 10_000}.{number % 10_000}"
    oldest = connection.features.minimum_database_version or (0,)
    if number // 10_000 < oldest[0]:
        return bad("version", text, f"move to PostgreSQL {oldest[0]} or newer; 18 is what the tests run on")
    return ok("version", text)


def skew() -> tuple[float, float]:
    """Our clock against its: by how much, and how long the question took."""
    before = time.time()
    ((there,),) = call.rows(sql.ITS_TIME)
    after = time.time()
    return (before + after) / 2 - there, after - before


def clock(seconds: float, took: float) -> Finding:
    # It may be off by half of what the question took, whoever is right.
    off = max(0.0, abs(seconds) - took / 2)
    if off < SKEW_WARN:
        return ok("clock", f"this machine's agrees with the database's ({abs(seconds) * 1000:.0f} ms apart)")
    said = f"this machine's is {abs(seconds):.1f} s {'ahead of' if seconds > 0 else 'behind'} the database's"
    judged = bad if off >= SKEW_BAD else warn
    return judged("clock", said, "have both keep time by NTP (chrony, systemd-timesyncd)")


def pooler(real: int, told: int) -> Finding:
    """A pooler answers in the server's place, and cannot know the number of the process behind it."""
    if real == told:
        return ok("pooler", "none stands between")
    return warn(
        "pooler",
        "a pooler stands between, such as PgBouncer",
        "let it switch by session, or give beat a direct connection: its lock lives in one session",
    )
