"""Django system checks of the engine."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import DatabaseError, InterfaceError

from jobs.sql import engine


@register(Tags.database)
def check_engine_version(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """A warning and no error, since `migrate` runs this check before it installs the engine."""
    if not databases or "default" not in databases:
        return []
    try:
        problem = engine.version_problem()
    except (DatabaseError, InterfaceError) as error:
        return [Warning(f"The database did not answer: {str(error).strip()}", id="jobs.W001")]
    return [Warning(problem[0], hint=problem[1], id="jobs.W002")] if problem else []
