"""`migrate` and `doctor` notice a database that other contents of the same migrations have made."""

import pytest
from django.core.management import CommandError, call_command
from django.db.migrations.recorder import MigrationRecorder

from jobs.diagnostics.postgresql import check_schema
from jobs.sql import call, drift, engine

pytestmark = pytest.mark.django_db


def migrate() -> None:
    call_command("migrate", verbosity=0)


def test_a_database_of_this_code_is_as_the_code_expects():
    assert drift.problem() == ""
    migrate()


@pytest.mark.parametrize(
    ("statement", "difference"),
    [
        ("ALTER TABLE offices DROP COLUMN name CASCADE", "offices.name is missing"),
        ("ALTER TABLE schedules ADD COLUMN old text NOT NULL DEFAULT ''", ""),
        (
            "ALTER TABLE schedules ADD COLUMN old text NOT NULL DEFAULT '';"
            " ALTER TABLE schedules ALTER COLUMN old DROP DEFAULT",
            "schedules.old is unknown",
        ),
        ("DROP TABLE alerts_seen CASCADE", "the table alerts_seen is missing"),
        (
            "CREATE OR REPLACE FUNCTION dure_first_fence(p_now timestamptz) RETURNS bigint LANGUAGE sql"
            " AS 'SELECT 1::bigint'",
            "the function dure_first_fence differs",
        ),
        ("DROP FUNCTION dure_steps_between", "the function dure_steps_between differs"),
    ],
)
def test_a_difference_is_named_with_its_remedy(statement, difference):
    call.change(statement)
    assert difference in drift.problem()
    assert bool(drift.problem()) is bool(difference)
    if difference:
        with pytest.raises(CommandError, match=f"{difference}.*Create the database anew"):
            migrate()
        assert difference in str([message.msg for message in check_schema()])


def test_functions_of_a_newer_engine_are_no_difference():
    version = engine.expected_version() + 1
    call.change(
        f"CREATE OR REPLACE FUNCTION dure_engine_version() RETURNS integer LANGUAGE sql AS 'SELECT {version}'"
    )
    assert drift.problem() == ""


def test_a_database_without_all_migrations_is_not_compared():
    MigrationRecorder.Migration.objects.filter(app="exports").delete()
    call.change("ALTER TABLE offices DROP COLUMN name CASCADE")
    assert drift.problem() == ""
