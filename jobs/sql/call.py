"""Calls the engine's functions, and tells which errors of the database are worth another try."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.db import connection

ENGINE = Path(__file__).with_name("engine.sql")


def function(name: str, *args: object) -> Any:
    """The JSON that a function answers, or None."""
    marks = ", ".join(["%s"] * len(args))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {name}({marks})", args)  # noqa: S608 (names are ours)
        row = cursor.fetchone()
    return json.loads(row[0]) if row and row[0] is not None else None


def rows(statement: str, args: Sequence[object] | dict[str, object] | None = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, args)
        return list(cursor.fetchall())


def change(statement: str, args: Sequence[object] | dict[str, object] | None = None) -> int:
    """How many rows a guarded write changed."""
    with connection.cursor() as cursor:
        cursor.execute(statement, args)
        return int(cursor.rowcount)


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
