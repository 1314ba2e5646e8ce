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

from django.conf import settings
from pydantic import BaseModel, ValidationError

from dure.definitions import build_args_model
from dure.roles import is_role
from jobs import registry
from jobs.errors import CodedError, ErrorText
from scheduler.steps.models import Step
from scheduler.steps.states import EMPTY_ARGS, NO_OPERATION, UNINIT

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

    def own_arguments(self, arguments: object) -> dict[str, Any]:
        """Both operations of a job receive the same arguments; each takes those that it names.

        A list has them in the order of the function's parameters; any other value is the first of them.
        """
        if arguments == EMPTY_ARGS:
            return {}
        if isinstance(arguments, Mapping):
            return {name: value for name, value in arguments.items() if name in self.argument_names}
        values = arguments if isinstance(arguments, list) else [arguments]
        return dict(zip(self.args_model.model_fields, values, strict=False))

    def argument_problems(self, arguments: object) -> list[ErrorText]:
        try:
            self.args_model.model_validate(self.own_arguments(arguments))
        except ValidationError as error:
            return [
                ErrorText("operation_argument", operation=self.name, text=text)
                for text in registry.describe_errors(error)
            ]
        return []

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
        _libraries[library_name][function.__name__] = Operation(
            library=library_name,
            name=function.__name__,
            function=function,
            role=role,
            description=inspect.getdoc(function) or "",
            args_model=build_args_model(function),
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


def backward_retries(of_job: int | None, operation: Operation | None) -> int:
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
