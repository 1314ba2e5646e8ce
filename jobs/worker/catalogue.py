"""Writes what this worker can run into the catalogue, with the version of the code."""

import functools
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from django.conf import settings

from jobs import registry
from jobs.catalogue import TASK
from jobs.known_tasks import digest_of
from jobs.sql import call, catalogue


@dataclass(frozen=True)
class Registration:
    """What a worker writes of a Task or an operation."""

    kind: str
    name: str
    module: str
    values: Mapping[str, Any]

    def row(self) -> dict[str, str]:
        package, version = package_of(self.module.partition(".")[0])
        code = code_digest(self.module)
        definition = json.dumps(self.values, ensure_ascii=False)
        return {
            "digest": digest_of(self.kind, self.name, definition, self.module, code, package, version),
            "kind": self.kind,
            "name": self.name,
            "definition": definition,
            "module": self.module,
            "code_digest": code,
            "package": package,
            "version": version,
        }


def tasks() -> Iterable[Registration]:
    for task in registry.all_tasks():
        yield Registration(TASK, task.task_id, task.definition.function.__module__, task.values())


# Of this app and of those above it.
sources: list[Callable[[], Iterable[Registration]]] = [tasks]


def own_rows(roles: Iterable[str]) -> list[dict[str, str]]:
    """The rows of a worker of these roles. One that serves only the engine's queues offers nothing."""
    if not set(roles) - {settings.DURE_CONTROL_QUEUE, settings.DURE_NOTICES_QUEUE}:
        return []
    return [registration.row() for source in sources for registration in source()]


def write(worker: str, rows: list[dict[str, str]]) -> int:
    """Write them in one statement; returns how many rows it changed."""
    ((changed,),) = call.rows(catalogue.WRITE_CATALOGUE, {"worker": worker, "entries": call.as_json(rows)})
    return int(changed)


@functools.cache
def code_digest(module: str) -> str:
    """Of the file that the module was loaded from."""
    file = getattr(sys.modules.get(module), "__file__", None)
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""
    except OSError:
        return ""


@functools.cache
def package_of(top_level: str) -> tuple[str, str]:
    """The installed package that the module belongs to, and its version."""
    names = _distributions().get(top_level)
    return (names[0], metadata.version(names[0])) if names else ("", "")


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()
