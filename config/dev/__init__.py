"""Development: `make up`, and the PostgreSQL and Redis that it and the tests start.

They are real servers from wheels, on a Unix socket and on 127.0.0.1, with random passwords. All their data
lies in one folder, DURE_HOME. Not supported: access from other machines, and upgrades of the data to another
major version. Production sets DATABASE_URL and REDIS_URL; of this package it imports only this file.
"""

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

URLS = "embedded.json"
# What `make up` publishes: addresses, and the passwords of its users.
CREDENTIALS = "credentials.json"


class CannotStart(Exception):
    """The system cannot start; the message is a sentence that says what to do."""


@dataclass(frozen=True)
class Servers:
    """The URLs of the embedded servers; empty for one that is not embedded."""

    database: str = ""
    redis: str = ""


def running_servers(home: Path) -> Servers | None:
    """The embedded servers that run in this home, if there are any."""
    try:
        urls = json.loads((home / URLS).read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    return Servers(urls["database"], urls["redis"])


def package_folder(name: str, variable: str) -> Path:
    """The folder of the package with a server, without the import of it, which takes as long as the server's
    start. The variable names a server that makes the package unnecessary."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise CannotStart(
            f"The package {name.replace('_', '-')} is not installed: run `make up`, which installs it, "
            f"or set {variable} to a server of your own."
        )
    return Path(next(iter(spec.submodule_search_locations)))
