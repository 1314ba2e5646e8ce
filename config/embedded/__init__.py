"""Owns the embedded PostgreSQL and Redis: where they live, how they start, and how they stop.

They are the real servers, taken from wheels and started by us: in process groups of their own, on a
Unix socket or 127.0.0.1, with random passwords. All they have lies below one folder, DURE_HOME.

Not promised: access from another machine, tuning, or an upgrade of the data to another major version.
Production sets DATABASE_URL and REDIS_URL; then nothing but this file is ever imported.
"""

import json
from dataclasses import dataclass
from pathlib import Path

URLS = "embedded.json"


class CannotStart(Exception):
    """Why nothing was started, in a sentence that says what to do about it."""


@dataclass(frozen=True)
class Servers:
    """Where the servers answer; empty for one that is not embedded."""

    database: str
    redis: str


def urls(home: Path) -> Servers | None:
    """The URLs of the embedded servers that run in this home, when they do."""
    try:
        found = json.loads((home / URLS).read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    return Servers(found["database"], found["redis"])
