"""Empties the tables after a test that committed rows, in a hundredth of the time that Django takes.

Django truncates every table, and recreates the content types and permissions. A test leaves a few rows in a
few tables: these are deleted, and the rows that migrations inserted are restored. So every test starts with
the rows of a new system.

Django also opens a new connection for each such test, whose process in PostgreSQL would read the catalogues
and compile the functions of the engine again. A connection that is idle is reset instead.
"""

from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest
from django.db import OperationalError, connection, transaction
from django.test import TransactionTestCase
from psycopg2.errors import DeadlockDetected
from psycopg2.extensions import TRANSACTION_STATUS_IDLE

RECREATED_BY_MIGRATE = {"django_content_type", "auth_permission"}
# A table whose file is larger than this is truncated, so that reading it is as fast as reading a new one.
SMALL_BYTES = 256 * 1024
DEADLOCK_TRIES = 5
# As DISCARD ALL, without the plans.
RESET = "CLOSE ALL; RESET ALL; UNLISTEN *; SELECT pg_advisory_unlock_all(); DISCARD TEMP"
# By table, as JSON.
rows_of_migrations: dict[str, str] = {}


def remember_rows_of_migrations() -> None:
    """Called once, when the migrations have just run."""
    with connection.cursor() as cursor:
        for name, _ in tables_with_rows():
            cursor.execute(f'SELECT json_agg(made)::text FROM "{name}" made')
            rows_of_migrations[name] = cursor.fetchone()[0]


def close_other_connections() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND backend_type = 'client backend' "
            "AND pid <> pg_backend_pid()"
        )


def tables_with_rows() -> list[tuple[str, int]]:
    """The tables that hold rows, with the sizes of their files."""
    names = connection.introspection.django_table_names(only_existing=True, include_views=False)
    queries = [
        f"(SELECT '{name}', pg_relation_size('\"{name}\"') FROM \"{name}\" LIMIT 1)"
        for name in names
        if name not in RECREATED_BY_MIGRATE
    ]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(queries))
        return list(cursor.fetchall())


def empty_tables() -> None:
    sizes = dict.fromkeys(rows_of_migrations, 0) | dict(tables_with_rows())
    names = [f'"{name}"' for name in sizes]
    if not names:
        return
    if any(size > SMALL_BYTES for size in sizes.values()):
        statement = f"TRUNCATE {', '.join(names)} CASCADE"
    else:
        statement = "; ".join(f"DELETE FROM {name}" for name in names)
    for tries_left in reversed(range(DEADLOCK_TRIES)):
        try:
            run_and_restore(statement)
        except OperationalError as error:
            # With a worker's transaction, whose locks have another order: one of the two may go on.
            if not tries_left or not isinstance(error.__cause__, DeadlockDetected):
                raise
        else:
            return


def run_and_restore(statement: str) -> None:
    # Foreign keys are deferred: PostgreSQL checks them when all tables are empty.
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
        for name, rows in rows_of_migrations.items():
            row = f'NULL::"{name}"'
            cursor.execute(f'INSERT INTO "{name}" SELECT * FROM json_populate_recordset({row}, %s)', [rows])


def is_reset() -> bool:
    """Tells whether the connection is as a new one."""
    if connection.connection is None or connection.in_atomic_block or not connection.get_autocommit():
        return False
    if connection.connection.get_transaction_status() != TRANSACTION_STATUS_IDLE:
        return False
    with connection.cursor() as cursor:
        cursor.execute(RESET)
    connection.ensure_timezone()
    return True


@pytest.fixture(autouse=True, scope="module")
def tables_are_empty_after_a_module(django_db_blocker: Any) -> Iterator[None]:
    """A worker of a whole module writes its row and its catalogue again when its last test has emptied them.
    This ends after the worker, as it began before it."""
    yield
    if rows_of_migrations:  # otherwise there is no database yet
        with django_db_blocker.unblock():
            if any(name not in rows_of_migrations for name, _ in tables_with_rows()):
                empty_tables()


@pytest.fixture(autouse=True, scope="session")
def fast_teardown() -> Iterator[None]:
    def teardown(case: TransactionTestCase) -> None:
        empty_tables()

    def should_reload_connections(case: TransactionTestCase) -> bool:
        return not is_reset()

    with (
        mock.patch.object(TransactionTestCase, "_fixture_teardown", teardown),
        mock.patch.object(TransactionTestCase, "_should_reload_connections", should_reload_connections),
    ):
        yield
