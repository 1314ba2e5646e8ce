"""The database's schema: that every migration of this code is applied, and has made what it should."""

import re
from collections.abc import Iterator, Sequence

from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from config.doctor import sql
from config.doctor.finding import Finding, bad, ok
from jobs.sql import call, engine
from scheduler.steps import sql as steps

FUNCTION = re.compile(r"^CREATE (?:OR REPLACE )?FUNCTION (\w+)", re.MULTILINE)
SHOWN = 3


def checks() -> Iterator[Finding]:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    names = [f"{migration.app_label}.{migration.name}" for migration, _ in plan]
    yield missing_migrations(names)
    wanted = sorted(set(FUNCTION.findall(engine.TEXT.read_text() + steps.FUNCTIONS.read_text())))
    there = {name for (name,) in call.rows(sql.FUNCTIONS)}
    yield functions([name for name in wanted if name not in there], len(wanted))


def missing_migrations(names: Sequence[str]) -> Finding:
    if not names:
        return ok("migrations", "all are applied")
    shown = ", ".join(names[:SHOWN]) + ("…" if len(names) > SHOWN else "")
    return bad("migrations", f"{len(names)} not applied: {shown}", "run `python manage.py migrate`")


def functions(missing: Sequence[str], wanted: int) -> Finding:
    if missing:
        return bad(
            "engine",
            f"functions are missing: {', '.join(missing[:SHOWN])}",
            "run `python manage.py migrate`; if that has nothing to do, restore the database from a backup",
        )
    return ok("engine", f"all {wanted} functions are there")
