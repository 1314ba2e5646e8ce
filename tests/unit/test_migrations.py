"""A migration runs while the old code still works: it takes nothing away that the old code names."""

import re

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations
from django.db.migrations.loader import MigrationLoader

OURS = ("jobs", "scheduler", "exports")
# What made the tables; nothing ran before them.
FIRST = {
    "jobs": {"0001_initial", "0002_engine"},
    "scheduler": {"0001_initial", "0002_periodic_tasks", "0003_steps", "0004_batch_without_constraint"},
    "exports": {"0001_initial", "0002_guards"},
}
TAKES_AWAY = (
    migrations.DeleteModel,
    migrations.RemoveField,
    migrations.RenameField,
    migrations.RenameModel,
    migrations.AlterModelTable,
    migrations.AlterUniqueTogether,
)
UNSAFE_SQL = re.compile(
    r"\bDROP\s+(TABLE|COLUMN|FUNCTION|SEQUENCE)\b|\bRENAME\b|\bSET\s+NOT\s+NULL\b", re.IGNORECASE
)
# Released before this was looked at: docs/operations.md says how to go on after them.
DIES_ONCE = {"jobs.0004_attempts_of_execution", "exports.0003_retention"}
BIG = {"job", "execution", "attempt", "event", "dependency"}


def later() -> list[migrations.Migration]:
    found = MigrationLoader(None, ignore_no_migrations=True).disk_migrations
    assert all((app, name) in found for app, names in FIRST.items() for name in names)
    return [one for (app, name), one in sorted(found.items()) if app in OURS and name not in FIRST[app]]


def unsafe(operation: migrations.operations.base.Operation) -> str:
    """Why this may not run while the old code works; empty when it may."""
    if isinstance(operation, TAKES_AWAY):
        return "takes away what the old code names"
    if isinstance(operation, migrations.AddField):
        field = operation.field
        if not (field.null or field.has_db_default() or field.many_to_many):
            return "the old code writes rows without this field: give it null=True or a db_default"
    if type(operation) is migrations.AddIndex and operation.model_name.lower() in BIG:
        return "writers wait for it: AddIndexConcurrently, in a migration that is not atomic"
    if isinstance(operation, migrations.RunSQL) and isinstance(operation.sql, str):
        # The bodies of functions are text to this statement.
        outside = re.sub(r"\$\$.*?\$\$", "", operation.sql, flags=re.DOTALL)
        found = UNSAFE_SQL.search(outside)
        return found[0] if found else ""
    return ""


@pytest.mark.parametrize("migration", later(), ids=str)
def test_the_old_code_can_go_on_working_while_it_runs(migration):
    assert [(str(one), why) for one in migration.operations if (why := unsafe(one))] == []


@pytest.mark.parametrize(
    "operation",
    [
        migrations.RemoveField("job", "ref"),
        migrations.RunSQL("ALTER TABLE job_queue DROP COLUMN ref"),
        migrations.RunSQL("ALTER TABLE job_queue ALTER COLUMN ref SET NOT NULL"),
    ],
    ids=str,
)
def test_what_takes_away_is_seen(operation):
    assert unsafe(operation)


@pytest.mark.parametrize("migration", [one for one in later() if not one.atomic], ids=str)
def test_one_that_died_on_its_way_can_be_run_again(migration):
    """It is no transaction, so what it has made before stays, and would be in the way."""
    if str(migration) in DIES_ONCE:
        return
    dropped = " ".join(str(one.sql) for one in migration.operations if isinstance(one, migrations.RunSQL))
    made = [one.index.name for one in migration.operations if isinstance(one, AddIndexConcurrently)]
    assert [name for name in made if f"DROP INDEX CONCURRENTLY IF EXISTS {name}" not in dropped] == []
