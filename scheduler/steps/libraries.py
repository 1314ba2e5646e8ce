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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from pydantic import BaseModel, ValidationError

from jobs import registry
from jobs.errors import CodedError, ErrorText
from jobs.roles import is_role
from scheduler.steps.states import NO_OPERATION, UNINIT

MAX_NAME_LENGTH = 100

F = TypeVar("F", bound=Callable[..., Any])


class UnknownOperation(CodedError):
    """No operation of that name is registered in that library."""

    def __init__(self, library: str, operation: str) -> None:
        super().__init__("unknown_operation", library=library, operation=operation)


@dataclass(frozen=True)
class Operation:
    """A registered function and its options."""

    library: str
    name: str
    function: Callable[..., Any]
    role: str
    description: str
    args_model: type[BaseModel]
    # Retries of a backward operation; None means the setting's default.
    max_retries: int | None

    @property
    def argument_names(self) -> frozenset[str]:
        return frozenset(self.args_model.model_fields)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        schema = self.args_model.model_json_schema()
        schema.pop("title", None)
        return schema

    def own_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Both operations of a job receive the same arguments; each takes those that it names."""
        return {name: value for name, value in arguments.items() if name in self.argument_names}

    def argument_problems(self, arguments: Mapping[str, Any]) -> list[ErrorText]:
        try:
            self.args_model.model_validate(self.own_arguments(arguments))
        except ValidationError as error:
            return [
                ErrorText("operation_argument", operation=self.name, text=text)
                for text in registry.describe_errors(error)
            ]
        return []

    def call(self, step: Any, arguments: Mapping[str, Any]) -> Any:
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
        _libraries[library_name][function.__name__] = Operation(
            library=library_name,
            name=function.__name__,
            function=function,
            role=role,
            description=inspect.getdoc(function) or "",
            args_model=registry.build_args_model(function),
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


def names() -> list[str]:
    registry.load()
    return sorted(name for name, operations in _libraries.items() if operations)


def operations_in(library: str) -> list[Operation]:
    registry.load()
    return sorted(_libraries.get(library, {}).values(), key=lambda operation: operation.name)


def description(library: str) -> str:
    """The docstring of the library's module."""
    module = sys.modules.get(operations_in(library)[0].function.__module__)
    return inspect.getdoc(module) or "" if module else ""


def find(library: str, name: str) -> Operation:
    registry.load()
    operation = _libraries.get(library, {}).get(name)
    if operation is None:
        raise UnknownOperation(library, name)
    return operation
