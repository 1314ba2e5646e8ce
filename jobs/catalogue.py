"""Every Task that is known: Dure's own from the code, all others as a worker has registered them.

Each process keeps what it read for a moment, so a submission usually asks the database nothing. A name that
it does not know makes it look at once.
"""

import json
import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.conf import settings

from jobs import registry
from jobs.known_tasks import KnownTask, UnknownTask
from jobs.sql import call, catalogue

log = logging.getLogger(__name__)

# How long a change of a Task may go unnoticed. Each process asks at most this often.
FRESH_SECONDS = 2.0
TASK = "task"


@dataclass(frozen=True)
class Registration:
    """What a worker writes of a Task or an operation: its values, and the module of its function."""

    kind: str
    name: str
    module: str
    values: Mapping[str, Any]


def tasks_of_process() -> Iterator[Registration]:
    for task in registry.all_tasks():
        yield Registration(TASK, task.task_id, task.definition.function.__module__, task.values())


# What a worker writes, of this app and of those above it.
sources: list[Callable[[], Iterable[Registration]]] = [tasks_of_process]


@dataclass(frozen=True)
class Entry:
    """The version in force, as its worker wrote it."""

    digest: str
    values: Mapping[str, Any]

    @cached_property
    def task(self) -> KnownTask:
        return KnownTask.read(self.values)


@dataclass(frozen=True)
class _Read:
    """What was read last, by kind and name."""

    at: float = float("-inf")
    entries: Mapping[tuple[str, str], Entry] = field(default_factory=dict)


_read = _Read()


def find(task_id: str) -> KnownTask:
    """The Task of that name, or UnknownTask."""
    own = registry.get(task_id)
    if own is not None and own.definition.function.__module__ not in settings.DURE_WORKER_MODULES:
        return own
    # What the workers have may be newer than what this process has imported of the same modules.
    entry = find_entry(TASK, task_id)
    return entry.task if entry is not None else own or _find_before_any_worker(task_id)


def find_public(task_id: str) -> KnownTask | None:
    """The Task of that name, if clients may start it."""
    try:
        task = find(task_id)
    except UnknownTask:
        return None
    return task if task.public else None


def _find_before_any_worker(task_id: str) -> KnownTask:
    """Until the first worker has registered it: in DURE_WORKER_MODULES, where this process has them too."""
    try:
        registry.load_worker_modules()
    except Exception as error:  # a broken module must not break the request
        log.warning("a module of DURE_WORKER_MODULES cannot be imported: %s", error)
        raise UnknownTask(task_id) from None
    return registry.find(task_id)


def all_tasks() -> list[KnownTask]:
    tasks: dict[str, KnownTask] = {
        name: entry.task for (kind, name), entry in _refresh().items() if kind == TASK
    }
    tasks |= {task.task_id: task for task in registry.all_tasks()}
    return [tasks[name] for name in sorted(tasks)]


def public_tasks() -> list[KnownTask]:
    """Those that clients may start."""
    return [task for task in all_tasks() if task.public]


def find_entry(kind: str, name: str) -> Entry | None:
    is_fresh = time.monotonic() < _read.at + FRESH_SECONDS
    entry = _read.entries.get((kind, name)) if is_fresh else None
    return entry or _refresh().get((kind, name))


def lacks_tasks_of(roles: Collection[str]) -> bool:
    """Whether other workers have Tasks of these roles that this process cannot run."""
    if time.monotonic() >= _read.at + FRESH_SECONDS:
        _refresh()
    own = {task.task_id for task in registry.all_tasks()}
    return any(
        kind == TASK and name not in own and entry.task.role in roles
        for (kind, name), entry in _read.entries.items()
    )


def entries_of(kind: str) -> dict[str, Entry]:
    """All entries of a kind, by name."""
    return {name: entry for (each, name), entry in _refresh().items() if each == kind}


def _refresh() -> Mapping[tuple[str, str], Entry]:
    """Read what is in force now; of the definitions, only those that are new here."""
    global _read  # noqa: PLW0603 (one for the process)
    at = time.monotonic()
    by_digest = {entry.digest: entry for entry in _read.entries.values()}
    current = call.rows(catalogue.CURRENT_ENTRIES, {"lease": settings.DURE_LEASE_SECONDS})
    if missing := [digest for digest, _, _ in current if digest not in by_digest]:
        for digest, definition in call.rows(catalogue.DEFINITIONS, [missing]):
            by_digest[digest] = Entry(digest, json.loads(definition))
    # One that was deleted meanwhile is left out.
    entries = {(kind, name): by_digest[digest] for digest, kind, name in current if digest in by_digest}
    _read = _Read(at, entries)
    return entries


def forget() -> None:
    """Forget what was read: the next look asks the database."""
    global _read  # noqa: PLW0603
    _read = _Read()
