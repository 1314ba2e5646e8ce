"""The operation libraries: modules of functions that a step queue may run, which `dure.operation` registers.

Clients choose from the registered operations; nothing is ever imported by a name that a client sends.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings

from dure import (
    operation as operation,
)  # modules that were written before there was the package import it here
from dure import step_operations
from jobs import catalogue, registry
from jobs.catalogue import Registration
from jobs.errors import CodedError
from scheduler.steps.known_operations import OPERATION, KnownOperation
from scheduler.steps.models import Step


class UnknownOperation(CodedError):
    """No operation of that name is registered in that library."""

    def __init__(self, library: str, operation: str) -> None:
        super().__init__("unknown_operation", library=library, operation=operation)


@dataclass(frozen=True, kw_only=True, eq=False)
class Operation(KnownOperation):
    """An operation that this process can run."""

    definition: step_operations.Operation


@functools.cache
def _as_known(definition: step_operations.Operation) -> Operation:
    values = {name: getattr(definition, name) for name in KnownOperation.field_names()}
    return Operation(**values, definition=definition)


def registrations() -> Iterator[Registration]:
    """What a worker writes into the catalogue."""
    for name, each in _own().items():
        yield Registration(OPERATION, name, each.definition.function.__module__, each.values())


def names() -> list[str]:
    return sorted({operation.library for operation in _all()})


def operations_in(library: str) -> list[KnownOperation]:
    own = [operation for operation in _all() if operation.library == library]
    return sorted(own, key=lambda operation: operation.name)


def _own() -> dict[str, Operation]:
    registry.load()
    own = map(_as_known, step_operations.all_operations())
    return {f"{each.library}.{each.name}": each for each in own}


def _all() -> list[KnownOperation]:
    """Those of this process, and those that workers have registered."""
    entries = catalogue.entries_of(OPERATION)
    registered = {name: KnownOperation.read(entry.values) for name, entry in entries.items()}
    return [*(registered | _own()).values()]


def description(library: str) -> str:
    """The docstring of the library's module."""
    return operations_in(library)[0].library_description


def find(library: str, name: str) -> KnownOperation:
    try:
        return find_own(library, name)
    except UnknownOperation:
        entry = catalogue.find_entry(OPERATION, f"{library}.{name}")
        if entry is None:
            raise
        return KnownOperation.read(entry.values)


def find_own(library: str, name: str) -> Operation:
    """The operation, if this process can run it."""
    registry.load()
    definition = step_operations.get(library, name)
    if definition is None:
        raise UnknownOperation(library, name)
    return _as_known(definition)


def backward_retries(of_job: int | None, operation: KnownOperation | None) -> int:
    """Retries of a backward operation: as the job says, or the operation, or the installation."""
    if of_job is not None:
        return of_job
    if operation is not None and operation.max_retries is not None:
        return operation.max_retries
    return settings.DURE_STEP_BACKWARD_RETRIES


def undo_retries(step: Step) -> int:
    try:
        operation = find(step.operation_library, step.backward_operation)
    except UnknownOperation:
        operation = None
    return backward_retries(step.undo_retries, operation)
