"""Owns the embedded PostgreSQL and Redis: where they live, how they start, and how they stop."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Servers:
    database: str
    redis: str


def urls(home: Path) -> Servers | None:
    """The URLs of the embedded servers of this home, when it has any."""
    try:
        found = json.loads((home / "embedded.json").read_text())
    except FileNotFoundError:
        return None
    return Servers(found["database"], found["redis"])
