"""Whether the database has what the migrations of this code make.

Before the first release a migration is changed in place, and Django, which knows it by its name, does not run
it again on a database that has it.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from jobs.sql import call, engine
from jobs.sql.freeze import Frozen

REMEDY = (
    "Another checkout made it, whose migrations had other contents. Create the database anew (of `make up` "
    "it is in DURE_HOME, by default the folder var: move it away), or use the checkout that made it."
)
COLUMNS = """
    SELECT table_name, column_name, is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO'
    FROM information_schema.columns WHERE table_schema = current_schema()
"""
FUNCTIONS = """
    SELECT proname, prosrc FROM pg_proc
    WHERE pronamespace = current_schema()::regnamespace AND proname ^@ 'dure_'
"""
BODY = re.compile(
    r"^CREATE OR REPLACE (?:FUNCTION|PROCEDURE) (\w+).*?AS \$\$(.*?)\$\$", re.MULTILINE | re.DOTALL
)


def problem() -> str:
    """The first differences of tables and functions; empty when there are none, or migrations are missing."""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return ""
    differences = [*_tables(), *_functions()]
    more = f" and {len(differences) - 3} more" if len(differences) > 3 else ""
    return f"The database differs from this code: {', '.join(differences[:3])}{more}." if differences else ""


def _tables() -> Iterator[str]:
    existing: dict[str, dict[str, bool]] = {}
    for table, column, is_required in call.rows(COLUMNS):
        existing.setdefault(table, {})[column] = is_required
    for model in apps.get_models(include_auto_created=True):
        meta = model._meta
        if not meta.managed or meta.proxy:
            continue
        if meta.db_table not in existing:
            yield f"the table {meta.db_table} is missing"
            continue
        columns = {str(field.column) for field in meta.local_concrete_fields}
        for column in sorted(columns - existing[meta.db_table].keys()):
            yield f"{meta.db_table}.{column} is missing"
        for column, is_required in sorted(existing[meta.db_table].items()):
            if is_required and column not in columns:
                yield f"{meta.db_table}.{column} is unknown"


def _functions() -> Iterator[str]:
    versions = engine.installed_versions()
    if versions is None or versions[1] != engine.expected_version():
        return  # a newer engine may serve this code too
    installed: dict[str, set[str]] = {}
    for name, body in call.rows(FUNCTIONS):
        installed.setdefault(name, set()).add(body)
    for app in apps.get_app_configs():
        frozen = Frozen.newest(Path(app.path))
        for name, body in BODY.findall(frozen.text) if frozen else ():
            if body not in installed.get(name, ()):
                yield f"the function {name} differs"
