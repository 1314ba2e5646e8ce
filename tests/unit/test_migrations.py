"""Migrations remove nothing that the previous version of the code uses."""

import re
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations
from django.db.migrations.loader import MigrationLoader

from jobs.sql import engine
from jobs.sql.freeze import Frozen, write_migration

OURS = ("jobs", "scheduler", "exports")
# These created the tables, so no older code ran before them.
FIRST = {"0001_initial", "0002_engine"}
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
BIG = {"job", "execution", "attempt", "event", "dependency"}


def later_migrations() -> list[migrations.Migration]:
    on_disk = MigrationLoader(None, ignore_no_migrations=True).disk_migrations
    return [
        migration for (app, name), migration in sorted(on_disk.items()) if app in OURS and name not in FIRST
    ]


def unsafe(operation: migrations.operations.base.Operation) -> str:
    """The reason why this must not run while the old code works; empty if it may."""
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
        match = UNSAFE_SQL.search(outside)
        return match[0] if match else ""
    return ""


@pytest.mark.parametrize("migration", later_migrations(), ids=str)
def test_a_migration_lets_the_old_code_go_on_working(migration):
    assert [(str(operation), why) for operation in migration.operations if (why := unsafe(operation))] == []


@pytest.mark.parametrize(
    "operation",
    [
        migrations.RemoveField("job", "ref"),
        migrations.RunSQL("ALTER TABLE job_queue DROP COLUMN ref"),
        migrations.RunSQL("ALTER TABLE job_queue ALTER COLUMN ref SET NOT NULL"),
    ],
    ids=str,
)
def test_an_unsafe_operation_is_recognised(operation):
    assert unsafe(operation)


@pytest.mark.parametrize(
    "migration", [migration for migration in later_migrations() if not migration.atomic], ids=str
)
def test_a_migration_that_died_halfway_can_be_run_again(migration):
    """The migration is not atomic, so an unfinished index remains and occupies its name."""
    dropped = " ".join(str(each.sql) for each in migration.operations if isinstance(each, migrations.RunSQL))
    made = [each.index.name for each in migration.operations if isinstance(each, AddIndexConcurrently)]
    assert [name for name in made if f"DROP INDEX CONCURRENTLY IF EXISTS {name}" not in dropped] == []


@pytest.mark.parametrize("app", ["jobs", "scheduler"])
def test_the_newest_frozen_sql_is_the_sql_of_today(app):
    """After a change, `make engine-migration` writes the migration that installs it."""
    frozen = Frozen.newest(Path(apps.get_app_config(app).path))
    assert frozen is not None
    assert frozen.is_current, f"{frozen.source} has changed since {frozen.path.name}: make engine-migration"


def test_the_version_of_the_engine_is_the_number_of_its_migration():
    frozen = Frozen.newest(Path(apps.get_app_config("jobs").path))
    assert frozen is not None
    assert engine.expected_version() == int(frozen.path.name[:4])


def test_a_new_engine_is_frozen_stamped_and_run_by_a_new_migration(tmp_path, monkeypatch):
    app = tmp_path / "jobs"
    (app / "migrations" / "sql").mkdir(parents=True)
    (app / "migrations" / "0002_engine.py").touch()
    source = app / "engine.sql"
    source.write_text("CREATE FUNCTION dure_engine_version() AS $$ SELECT 2 $$;\n")
    (app / "migrations" / "sql" / "0002_engine.sql").write_text(
        "-- A frozen copy of jobs/engine.sql\n" + source.read_text()
    )
    monkeypatch.setattr(engine, "TEXT", source)
    frozen = Frozen.newest(app)
    assert frozen is not None
    assert frozen.is_current
    source.write_text(source.read_text() + "-- changed\n")
    assert not frozen.is_current
    migration = write_migration(frozen)
    assert migration.name == "0003_engine.py"
    assert '("jobs", "0002_engine")' in migration.read_text()
    newest = Frozen.newest(app)
    assert newest is not None
    assert newest.is_current
    assert newest.path.name == "0003_engine.sql"
    assert engine.expected_version() == 3
