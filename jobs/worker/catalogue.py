"""Writes what this worker can run into the catalogue, with the version of the code."""

import functools
import hashlib
import json
import re
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from django.conf import settings
from django.db import transaction

from dure.definitions import parse_rate_limit
from jobs import catalogue
from jobs.catalogue import Registration
from jobs.known_tasks import KnownTask
from jobs.sql import call
from jobs.sql.catalogue import LIMIT_TASKS, WRITE_CATALOGUE

# In a list of installed files: a folder, or a file beside them.
TOP_LEVEL = re.compile(r"^([^/,\n]+)(?:/|\.py,)", re.MULTILINE)
OWN_MODULES = {"config", "dure", "exports", "jobs", "scheduler", "workers"}


def row_of(registration: Registration) -> dict[str, str]:
    package, version = package_of(registration.module.partition(".")[0])
    parts = {
        "kind": registration.kind,
        "name": registration.name,
        "definition": json.dumps(registration.values, ensure_ascii=False),
        "module": registration.module,
        "code_digest": code_digest(registration.module),
        "package": package,
        "version": version,
    }
    return {**parts, "digest": hashlib.sha256(call.as_json(parts).encode()).hexdigest()}


def own_rows(roles: Iterable[str]) -> list[dict[str, str]]:
    """The rows of a worker of these roles. One that serves only the engine's queues offers nothing."""
    if not set(roles) - {settings.DURE_CONTROL_QUEUE, settings.DURE_NOTICES_QUEUE}:
        return []
    return [row_of(registration) for source in catalogue.sources for registration in source()]


def write(worker: str, rows: list[dict[str, str]]) -> int:
    """Write them; returns how many rows of the catalogue that changed."""
    with transaction.atomic():
        ((changed,),) = call.rows(WRITE_CATALOGUE, {"worker": worker, "entries": call.as_json(rows)})
        call.rows(LIMIT_TASKS, {"tasks": call.as_json(limits_of(rows))})
    return int(changed)


def limits_of(rows: list[dict[str, str]]) -> list[dict[str, object]]:
    """When runs of the Tasks among these entries may start."""
    limits = []
    for row in rows:
        if row["kind"] == catalogue.TASK:
            task = KnownTask.read(json.loads(row["definition"]))
            starts, seconds = parse_rate_limit(task.rate_limit) if task.rate_limit else (None, None)
            limits.append(
                {
                    "task_id": task.task_id,
                    "exclusive": task.exclusive,
                    "max_starts": starts,
                    "seconds": seconds,
                }
            )
    return limits


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
    """The installed package of the module, and its version. Dure is a package without being installed."""
    if distribution := _distributions().get(top_level):
        return distribution.name, distribution.version
    return ("Dure", str(settings.SPECTACULAR_SETTINGS["VERSION"])) if top_level in OWN_MODULES else ("", "")


@functools.cache
def _distributions() -> dict[str, metadata.Distribution]:
    """By top-level module. `metadata.packages_distributions` takes seven times as long."""
    distributions: dict[str, metadata.Distribution] = {}
    for distribution in metadata.distributions():
        listed = distribution.read_text("top_level.txt")
        files = "" if listed else distribution.read_text("RECORD") or ""
        for name in listed.split() if listed else TOP_LEVEL.findall(files):
            distributions.setdefault(name, distribution)
    return distributions
