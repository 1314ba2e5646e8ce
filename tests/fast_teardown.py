"""Empties the tables after a test whose rows were committed, in a hundredth of the time Django takes for it.

Django truncates every table, and makes the content types and permissions anew. A test leaves a few rows in a
few tables: these are deleted, and the rows that migrations made are put back. So every test finds what a
new system holds, whatever ran before it.
"""

from collections.abc import Iterator
from unittest import mock

import pytest
from django.db import connection, transaction
from django.test import TransactionTestCase

MADE_BY_MIGRATE = {"django_content_type", "auth_permission"}
# A table whose file has grown beyond this is truncated, so that it is read as fast as a new one.
SMALL = 256 * 1024
# By table, as JSON.
rows_of_migrations: dict[str, str] = {}


def remember() -> None:
    """Called once, when the migrations have just run."""
    with connection.cursor() as cursor:
        for name, _ in filled():
            cursor.execute(f'SELECT json_agg(made)::text FROM "{name}" made')
            rows_of_migrations[name] = cursor.fetchone()[0]


def cut_others_off() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def filled() -> list[tuple[str, int]]:
    """The tables that hold rows, with the sizes of their files."""
    names = connection.introspection.django_table_names(only_existing=True, include_views=False)
    looks = [
        f"(SELECT '{name}', pg_relation_size('\"{name}\"') FROM \"{name}\" LIMIT 1)"
        for name in names
        if name not in MADE_BY_MIGRATE
    ]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(looks))
        return list(cursor.fetchall())


def empty() -> None:
    found = dict.fromkeys(rows_of_migrations, 0) | dict(filled())
    names = [f'"{name}"' for name in found]
    if not names:
        return
    if any(size > SMALL for size in found.values()):
        statement = f"TRUNCATE {', '.join(names)} CASCADE"
    else:
        statement = "; ".join(f"DELETE FROM {name}" for name in names)
    # The foreign keys are looked at when all of it is gone.
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
        for name, rows in rows_of_migrations.items():
            row = f'NULL::"{name}"'
            cursor.execute(f'INSERT INTO "{name}" SELECT * FROM json_populate_recordset({row}, %s)', [rows])


@pytest.fixture(autouse=True, scope="session")
def quick_emptying() -> Iterator[None]:
    with mock.patch.object(TransactionTestCase, "_fixture_teardown", lambda case: empty()):
        yield
