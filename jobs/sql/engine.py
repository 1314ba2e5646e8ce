"""The engine's SQL: the version that this code works with, and the one that the database has."""

import re
from pathlib import Path

from jobs.sql import call

TEXT = Path(__file__).with_name("engine.sql")
STAMP = re.compile(r"(FUNCTION dure_engine_version\(\).*?SELECT )(\d+)", re.DOTALL)


def expected_version() -> int:
    """The version of engine.sql, as `make engine-migration` stamped it."""
    return next(int(stamp[2]) for stamp in STAMP.finditer(TEXT.read_text()))


def installed_versions() -> tuple[int, int] | None:
    """The oldest version that the database's engine serves, and its own; None before its first migration."""
    ((is_installed,),) = call.rows("SELECT to_regproc('dure_engine_version') IS NOT NULL")
    if not is_installed:
        return None
    ((oldest, version),) = call.rows("SELECT dure_engine_oldest_caller(), dure_engine_version()")
    return oldest, version


def version_problem() -> tuple[str, str] | None:
    """The reason why this code cannot use the database's engine, and the remedy; None if it can."""
    expected, installed = expected_version(), installed_versions()
    if installed is None:
        return "The database has no engine.", "Run `python manage.py migrate`."
    oldest, version = installed
    problem = f"The database has version {version} of the engine, and this code needs {expected}."
    if version < expected:
        return problem, "Run `python manage.py migrate`."
    if oldest > expected:
        return problem, "Install a newer release: this one is too old for the database."
    return None
