"""The operation libraries: modules of functions that a step queue may run, registered by a decorator.

    @operation(role="DevOps")
    def create_volume(step: StepRun, gigabytes: int) -> dict[str, str]:
        '''Creates a volume.'''

A library has the name of its module unless `library=` gives another. Clients choose from the registered
operations; nothing is ever imported by a name that a client sends.
"""

import inspect
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar, overload

from django.conf import settings
from pydantic import BaseModel

from dure.definitions import build_args_model, schema_of
from dure.roles import is_role
from jobs import catalogue, registry
from jobs.catalogue import Registration
from jobs.errors import CodedError
from scheduler.steps.known_operations import OPERATION, KnownOperation
from scheduler.steps.models import Step
from scheduler.steps.states import NO_OPERATION, UNINIT

MAX_NAME_LENGTH = 100

F = TypeVar("F", bound=Callable[..., Any])


class UnknownOperation(CodedError):
    """No operation of that name is registered in that library."""

    def __init__(self, library: str, operation: str) -> None:
        super().__init__("unknown_operation", library=library, operation=operation)


@dataclass(frozen=True, kw_only=True, eq=False)
class Operation(KnownOperation):
    """An operation that this process can run."""

    function: Callable[..., Any]
    args_model: type[BaseModel]

    def call(self, step: Any, arguments: object) -> Any:
        values = self.args_model.model_validate(self.own_arguments(arguments))
        return self.function(step, **{name: getattr(values, name) for name in type(values).model_fields})


_libraries: dict[str, dict[str, Operation]] = defaultdict(dict)


@overload
def operation(function: F) -> F: ...


@overload
def operation(*, library: str = ..., role: str = ..., max_retries: int | None = ...) -> Callable[[F], F]: ...


def operation(
    function: F | None = None,
    *,
    library: str = "",
    role: str = "default",
    max_retries: int | None = None,
) -> F | Callable[[F], F]:
    """Register a function as an operation of its module's library; docs/step-queues.md shows how."""

    def register(function: F) -> F:
        library_name = library or function.__module__.rpartition(".")[2]
        _check_registration(library_name, function, role)
        module = sys.modules.get(function.__module__)
        args_model = build_args_model(function)
        _libraries[library_name][function.__name__] = Operation(
            library=library_name,
            name=function.__name__,
            function=function,
            role=role,
            description=inspect.getdoc(function) or "",
            library_description=(inspect.getdoc(module) or "") if module else "",
            args_model=args_model,
            schema=schema_of(args_model),
            max_retries=max_retries,
        )
        return function

    return register if function is None else register(function)


def _check_registration(library: str, function: Callable[..., Any], role: str) -> None:
    for name in (library, function.__name__):
        if name in (UNINIT, NO_OPERATION) or not name.isidentifier() or len(name) > MAX_NAME_LENGTH:
            raise ValueError(f"{name!r} cannot name a library or an operation.")
    if not is_role(role):
        raise ValueError(f"{function.__name__!r}: {role!r} is not the name of a role.")
    modules = {operation.function.__module__ for operation in _libraries[library].values()}
    if others := modules - {function.__module__}:
        raise ValueError(f"The library {library!r} is registered already, by {', '.join(others)}.")


def registrations() -> Iterator[Registration]:
    """What a worker writes into the catalogue."""
    for name, each in _own().items():
        yield Registration(OPERATION, name, each.function.__module__, each.values())


def names() -> list[str]:
    return sorted({operation.library for operation in _all()})


def operations_in(library: str) -> list[KnownOperation]:
    own = [operation for operation in _all() if operation.library == library]
    return sorted(own, key=lambda operation: operation.name)


def _own() -> dict[str, Operation]:
    registry.load()
    operations = chain.from_iterable(library.values() for library in _libraries.values())
    return {f"{each.library}.{each.name}": each for each in operations}


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
    operation = _libraries.get(library, {}).get(name)
    if operation is None:
        raise UnknownOperation(library, name)
    return operation


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
