"""The operation libraries: modules of functions that a step queue may run, registered by a decorator.

    @operation(role="DevOps")
    def create_volume(step: StepRun, gigabytes: int) -> dict[str, str]:
        '''Creates a volume.'''

The library is named after its module; `library=` names it otherwise. A client chooses from what is
registered here and can name nothing else: no name is ever imported.
"""

import inspect
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from django.conf import settings
from pydantic import BaseModel, ValidationError

from jobs import registry
from scheduler.steps.states import NO_OPERATION, UNINIT

LONGEST_NAME = 100

F = TypeVar("F", bound=Callable[..., Any])


class UnknownOperation(LookupError):
    """No operation of that name is registered in that library."""


@dataclass(frozen=True)
class Operation:
    """A registered function, and how it wants to be run."""

    library: str
    name: str
    function: Callable[..., Any]
    role: str
    description: str
    args_model: type[BaseModel]
    # How often it is tried again when it undoes something; None leaves it to the settings.
    max_retries: int | None

    @property
    def names(self) -> frozenset[str]:
        """The arguments that it takes."""
        return frozenset(self.args_model.model_fields)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        schema = self.args_model.model_json_schema()
        schema.pop("title", None)
        return schema

    def mine(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Both operations of a job are given the same arguments; each takes those that it names."""
        return {name: value for name, value in arguments.items() if name in self.names}

    def problems_with(self, arguments: Mapping[str, Any]) -> list[str]:
        try:
            self.args_model.model_validate(self.mine(arguments))
        except ValidationError as error:
            return [f"{self.name}: {problem}" for problem in registry.described(error)]
        return []

    def call(self, step: Any, arguments: Mapping[str, Any]) -> Any:
        values = self.args_model.model_validate(self.mine(arguments))
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
    """Registers a function as an operation of its module's library; docs/step-queues.md shows how."""

    def register(function: F) -> F:
        named = library or function.__module__.rpartition(".")[2]
        _refuse_bad(named, function, role)
        _libraries[named][function.__name__] = Operation(
            library=named,
            name=function.__name__,
            function=function,
            role=role,
            description=inspect.getdoc(function) or "",
            args_model=registry.args_model_of(function),
            max_retries=max_retries,
        )
        return function

    return register if function is None else register(function)


def _refuse_bad(library: str, function: Callable[..., Any], role: str) -> None:
    name = function.__name__
    for word in (library, name):
        if word in (UNINIT, NO_OPERATION) or not word.isidentifier() or len(word) > LONGEST_NAME:
            raise ValueError(f"{word!r} cannot name a library or an operation.")
    if role not in settings.DURE_ROLES:
        raise ValueError(f"{name!r}: no such role {role!r}; there are {', '.join(settings.DURE_ROLES)}.")
    others = {known.function.__module__ for known in _libraries[library].values()} - {function.__module__}
    if others:
        raise ValueError(f"The library {library!r} is registered already, by {', '.join(others)}.")


def names() -> list[str]:
    registry.load()
    return sorted(name for name, operations in _libraries.items() if operations)


def operations_of(library: str) -> list[Operation]:
    registry.load()
    return sorted(_libraries.get(library, {}).values(), key=lambda known: known.name)


def description_of(library: str) -> str:
    """What the module says of itself."""
    module = sys.modules.get(operations_of(library)[0].function.__module__)
    return inspect.getdoc(module) or "" if module else ""


def find(library: str, name: str) -> Operation:
    registry.load()
    found = _libraries.get(library, {}).get(name)
    if found is None:
        raise UnknownOperation(f"No operation {name!r} is registered in a library {library!r}.")
    return found
