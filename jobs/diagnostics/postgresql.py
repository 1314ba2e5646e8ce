"""PostgreSQL: connection, version, clock, schema, durability, autovacuum and number of connections."""

import re
import time
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg2
from django.conf import settings
from django.core.checks import CheckMessage
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from jobs.diagnostics import CONNECT_SECONDS, error, ok, register, warning
from jobs.sql import call, drift, engine
from jobs.texts import first_line
from jobs.threads import call_within

SKEW_WARNING, SKEW_ERROR = 1.0, 5.0
# The share of all connections from which on there may soon be none left.
CROWDED = 0.8
# Beat holds two, a listener and each command one; and operators use psql.
OTHER_CONNECTIONS = 10
DEAD_ROWS = 100_000
DEAD_SHARE = 0.5
FUNCTION = re.compile(r"^CREATE (?:OR REPLACE )?FUNCTION (\w+)", re.MULTILINE)
SESSION_SETTING = re.compile(r"-c (\w+)=(\S+)")
SHOWN = 3
# The SQL files whose functions must exist; apps above this one add theirs.
function_files = [engine.TEXT]
PARAMETERS = (
    *("max_connections", "superuser_reserved_connections", "autovacuum", "track_counts"),
    *("fsync", "full_page_writes", "synchronous_commit", "server_encoding", "transaction_read_only"),
)
TABLES_WITH_DEAD_ROWS = """
    SELECT relname, n_live_tup, n_dead_tup FROM pg_stat_user_tables ORDER BY n_dead_tup DESC LIMIT 5
"""
# Each slot of a worker keeps a connection, and its main process one more.
WORKER_CONNECTIONS = """
    SELECT coalesce(sum(slots + 1), 0) FROM workers WHERE seen_at > now() - interval '1 hour'
"""


@register("postgresql")
def check_connection() -> Iterator[CheckMessage]:
    values: dict[str, Any] = {**connection.get_connection_params(), "connect_timeout": int(CONNECT_SECONDS)}
    for name in ("cursor_factory", "context"):
        values.pop(name, None)
    try:
        call_within(CONNECT_SECONDS, lambda: psycopg2.connect(**values).close())
    except (psycopg2.Error, TimeoutError) as problem:
        reason = first_line(problem)
        yield error("connection", f"{address()}: {reason}", connection_hint(reason))
    else:
        yield ok("connection", f"{address()} answers")


@register("postgresql")
def check_server() -> Iterator[CheckMessage]:
    with transaction.atomic():
        # For this transaction: a session may be shared, by a pooler.
        call.change("SET LOCAL statement_timeout = '4s'")
        yield from list(check_each_part())


def check_each_part() -> Iterator[CheckMessage]:
    yield check_version()
    yield check_clock(*clock_skew())
    ((pid,),) = call.rows("SELECT pg_backend_pid()")
    yield check_pooler(pooled=pid != connection.connection.get_backend_pid(), missing=missing_settings())
    parameters = dict(
        call.rows("SELECT name, setting FROM pg_settings WHERE name = ANY (%s)", [list(PARAMETERS)])
    )
    yield from check_durability(parameters)
    yield check_autovacuum(parameters, call.rows(TABLES_WITH_DEAD_ROWS))
    limit = int(parameters["max_connections"]) - int(parameters["superuser_reserved_connections"])
    ((used,),) = call.rows("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
    ((slots,),) = call.rows(WORKER_CONNECTIONS)
    yield check_connections(limit, used, settings.DURE_WEB_THREADS + int(slots) + OTHER_CONNECTIONS)


@register("schema")
def check_schema() -> Iterator[CheckMessage]:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    yield check_migrations([f"{migration.app_label}.{migration.name}" for migration, _ in plan])
    expected = {name for path in function_files for name in FUNCTION.findall(path.read_text())}
    existing = {
        name for (name,) in call.rows("SELECT DISTINCT proname FROM pg_proc WHERE proname ^@ 'dure_'")
    }
    yield check_functions(sorted(expected - existing), len(expected))
    if difference := drift.problem():
        yield error("schema", difference, drift.REMEDY)
    if problem := engine.version_problem():
        yield error("engine", *problem)


def address() -> str:
    """The server's address, without the password."""
    database = settings.DATABASES["default"]
    host = f"{database['HOST']}:{database['PORT'] or 5432}" if database["HOST"] else "the local socket"
    return f"{database['USER'] or '?'}@{host}/{database['NAME']}"


def connection_hint(reason: str) -> str:
    if "password" in reason or "authentication" in reason:
        return "set the user and password of DATABASE_URL to those of the server"
    if "does not exist" in reason:
        return "create it (createdb), or name another one in DATABASE_URL"
    if "too many" in reason or "remaining connection slots" in reason:
        return "raise max_connections, or lower DURE_WEB_THREADS"
    return "start it, or set DATABASE_URL to its address; `make up` starts one of its own"


def check_version() -> CheckMessage:
    number = connection.pg_version  # type: ignore[attr-defined]
    text = f"{number // 10_000}.{number % 10_000}"
    oldest = connection.features.minimum_database_version or (0,)
    if number // 10_000 < oldest[0]:
        return error("version", text, f"upgrade to PostgreSQL {oldest[0]} or newer; the tests use 18")
    return ok("version", text)


def clock_skew() -> tuple[float, float]:
    """This machine's clock minus the database's, and how long the query took."""
    before = time.time()
    ((database_time,),) = call.rows("SELECT extract(epoch FROM clock_timestamp())::float")
    after = time.time()
    return (before + after) / 2 - database_time, after - before


def check_clock(skew: float, query_seconds: float) -> CheckMessage:
    # The measurement may be wrong by half of the query's time.
    certain = max(0.0, abs(skew) - query_seconds / 2)
    if certain < SKEW_WARNING:
        return ok("clock", f"agrees with the database's ({abs(skew) * 1000:.0f} ms apart)")
    text = f"this machine is {abs(skew):.1f} s {'ahead of' if skew > 0 else 'behind'} the database"
    severity = error if certain >= SKEW_ERROR else warning
    return severity("clock", text, "synchronize both by NTP (chrony, systemd-timesyncd)")


def missing_settings() -> list[str]:
    """The settings that each connection asks for at its start and does not have, as SQL."""
    expected = SESSION_SETTING.findall(str(connection.settings_dict["OPTIONS"].get("options", "")))
    # The time limit of these checks hides the session's own.
    visible = [(name, value) for name, value in expected if name != "statement_timeout"]
    return [
        f"SET {name} = '{value}'"
        for name, value in visible
        if call.rows("SELECT current_setting(%s)", [name]) != [(value,)]
    ]


def check_pooler(*, pooled: bool, missing: Sequence[str]) -> CheckMessage:
    """A pooler answers in the server's place, and does not know the server's process id."""
    if missing:
        return error(
            "pooler",
            f"the pooler drops {len(missing)} settings of the connections: {'; '.join(missing[:SHOWN])}",
            'give them to PgBouncer as its connect_query: docs/operations.md, "PgBouncer"',
        )
    return ok("pooler", "transactions share connections, with all settings" if pooled else "none")


def check_migrations(missing: Sequence[str]) -> CheckMessage:
    if not missing:
        return ok("migrations", "all are applied")
    names = ", ".join(missing[:SHOWN]) + ("…" if len(missing) > SHOWN else "")
    return error("migrations", f"{len(missing)} not applied: {names}", "run `python manage.py migrate`")


def check_functions(missing: Sequence[str], expected: int) -> CheckMessage:
    if missing:
        return error(
            "engine",
            f"functions are missing: {', '.join(missing[:SHOWN])}",
            "run `python manage.py migrate`; if that applies nothing, restore the database from a backup",
        )
    return ok("engine", f"all {expected} functions exist")


def check_durability(parameters: dict[str, str]) -> Iterator[CheckMessage]:
    encoding = parameters.get("server_encoding", "")
    if encoding == "UTF8":
        yield ok("encoding", encoding)
    else:
        yield error("encoding", encoding or "unknown", "recreate the database with ENCODING 'UTF8'")
    if parameters.get("transaction_read_only") == "on":
        yield error("writing", "the server is read-only: a standby", "name the primary in DATABASE_URL")
    off = [name for name in ("fsync", "full_page_writes") if parameters.get(name) == "off"]
    if off:
        severity = error if settings.PRODUCTION else warning
        yield severity(
            "durability",
            f"{' and '.join(off)} off: a power failure can destroy the database",
            "turn it on, unless the data may be lost",
        )
    elif parameters.get("synchronous_commit") == "off":
        yield warning(
            "durability",
            "synchronous_commit is off: a crash loses up to half a second of accepted work",
            "turn it on, since accepted work must not be lost",
        )
    else:
        yield ok("durability", f"fsync on, synchronous_commit {parameters.get('synchronous_commit')}")


def check_autovacuum(parameters: dict[str, str], tables: Sequence[tuple[str, int, int]]) -> CheckMessage:
    """A table is its name, live rows and dead rows."""
    if parameters.get("autovacuum") != "on" or parameters.get("track_counts") != "on":
        return error(
            "autovacuum",
            "off: tables with many changes grow without limit",
            "set autovacuum = on and track_counts = on, and reload",
        )
    bloated = [
        f"{name} ({dead:,} dead rows of {live + dead:,})"
        for name, live, dead in tables
        if dead > DEAD_ROWS and dead > DEAD_SHARE * live
    ]
    if bloated:
        return warning(
            "autovacuum",
            f"on, and behind: {', '.join(bloated)}",
            "end transactions that stay open (pg_stat_activity), or raise autovacuum's cost limit",
        )
    return ok("autovacuum", "on, and keeps up")


def check_connections(limit: int, used: int, expected: int) -> CheckMessage:
    text = f"{used} of {limit} in use; one web process and the workers may need {expected}"
    if used >= limit * CROWDED or expected > limit:
        hint = "raise max_connections, lower DURE_WEB_THREADS, or end idle connections (pg_stat_activity)"
        return warning("connections", text, hint)
    return ok("connections", text)
