"""The operations of step queues that this process knows: functions by library and name.

A library has the name of its module unless `library=` gives another.
"""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Concatenate, Final, TypeVar, overload

from dure.definitions import RegisteredFunction, build_args_model, is_same, name_of
from dure.roles import is_role

# The arguments of a job that has none.
EMPTY_ARGS: Final = "EMPTY_ARGS"
# In place of a name: not set, and no operation in this direction.
UNINIT: Final = "UNINIT"
NO_OPERATION: Final = "NO_OPERATION"
LONGEST_NAME = 100

Body = TypeVar("Body", bound=Callable[Concatenate[Any, ...], Any])


@dataclass(frozen=True, kw_only=True, eq=False)
class Operation(RegisteredFunction):
    """An operation's function, with the options of its decorator."""

    library: str
    name: str
    library_description: str
    max_retries: int | None  # when it runs backward; None leaves it to the installation

    def call(self, context: Any, args: Any) -> Any:
        return super().call(context, own_arguments(list(self.args_model.model_fields), args))


_operations: dict[tuple[str, str], Operation] = {}


@overload
def operation(function: Body) -> Body: ...


@overload
def operation(
    *, library: str = ..., role: str = ..., max_retries: int | None = ...
) -> Callable[[Body], Body]: ...


def operation(
    function: Body | None = None,
    *,
    library: str = "",
    role: str = "default",
    max_retries: int | None = None,
) -> Body | Callable[[Body], Body]:
    """Register a function as an operation of step queues. The function stays as it is.

        @operation(role="DevOps")
        def create_volume(step: StepRun, gigabytes: int) -> dict[str, str]:
            '''Creates a volume.'''

    The first parameter is the run. The type hints of the others are the schema of the arguments, and the
    docstring is the description.

    `library`: the name under which clients find it; that of the module by default.
    `role`: the queue whose workers run it.
    `max_retries`: retries when it runs backward; forward it runs once.
    """

    def register(function: Body) -> Body:
        name = library or function.__module__.rpartition(".")[2]
        _check(name, function, role)
        module = sys.modules.get(function.__module__)
        registered = Operation(
            library=name,
            name=function.__name__,
            function=function,
            role=role,
            description=inspect.getdoc(function) or "",
            library_description=(inspect.getdoc(module) or "") if module else "",
            args_model=build_args_model(function),
            max_retries=max_retries,
        )
        _ = registered.schema  # raises TypeError for an argument that JSON cannot hold
        _operations[name, function.__name__] = registered
        return function

    return register if function is None else register(function)


def _check(library: str, function: Callable[..., Any], role: str) -> None:
    name = function.__name__
    for each in (library, name):
        if each in (UNINIT, NO_OPERATION) or not each.isidentifier() or len(each) > LONGEST_NAME:
            raise ValueError(f"{each!r} cannot name a library or an operation.")
    if not is_role(role):
        raise ValueError(f"{name!r}: {role!r} is not the name of a role.")
    modules = {each.function.__module__ for each in _operations.values() if each.library == library}
    if others := modules - {function.__module__}:
        raise ValueError(f"The library {library!r} is registered already, by {', '.join(others)}.")
    other = _operations.get((library, name))
    if other is not None and not is_same(other.function, function):
        raise ValueError(f"{library}.{name} is registered already, in the same module.")


def get(library: str, name: str) -> Operation | None:
    return _operations.get((library, name))


def find(function: Callable[..., Any]) -> Operation:
    """The operation of that function."""
    for each in _operations.values():
        if each.function is function:
            return each
    raise LookupError(f"{name_of(function)!r} is no operation that is registered in this process.")


def all_operations() -> list[Operation]:
    return list(_operations.values())


def own_arguments(names: Sequence[str], arguments: object) -> dict[str, Any]:
    """Both operations of a job receive the same arguments; each takes those that it names.

    A list has them in the order of the function's parameters; any other value is the first of them.
    """
    if arguments == EMPTY_ARGS:
        return {}
    if isinstance(arguments, Mapping):
        return {name: value for name, value in arguments.items() if name in names}
    values = arguments if isinstance(arguments, list) else [arguments]
    return dict(zip(names, values, strict=False))
