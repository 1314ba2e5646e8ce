"""The Tasks that this process knows: functions under a `task_id`, with their options."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model
from pydantic.errors import PydanticInvalidForJsonSchema

from dure.roles import is_role

LONGEST_TASK_ID = 200
ON_LOST = ("retry", "fail")
MOST_STARTS = 100_000
RATE_LIMIT = re.compile(r"([0-9]{1,6})/([smhd])")
PERIODS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


@dataclass(frozen=True, kw_only=True, eq=False)
class RegisteredFunction:
    """A function that workers of a role run, with the model of its arguments."""

    function: Callable[..., Any]
    role: str
    description: str
    args_model: type[BaseModel]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return schema_of(self.args_model)

    def call(self, context: Any, args: Any) -> Any:
        """Run the body. Raises pydantic's ValidationError when the arguments do not fit its type hints."""
        values = self.args_model.model_validate(args)
        return self.function(context, **{name: getattr(values, name) for name in type(values).model_fields})


@dataclass(frozen=True, kw_only=True, eq=False)
class Definition(RegisteredFunction):
    """A Task's function, with the options of its decorator."""

    task_id: str
    timeout: float | None  # seconds; None leaves it to the office
    max_retries: int | None
    retry_backoff: float | None  # Celery's word for the base of the delay, in seconds
    retry_backoff_max: float
    retry_jitter: bool
    autoretry_for: tuple[type[BaseException], ...]
    on_lost: str
    atomic: bool
    on_cancel: Callable[[str, dict[str, Any]], None] | None
    public: bool
    exclusive: bool
    rate_limit: str | None


class UnknownTask(LookupError):
    """No Task of that name, or of that function, is registered in this process."""


_definitions: dict[str, Definition] = {}
_listeners: list[Callable[[Definition], None]] = []


def register(definition: Definition) -> None:
    """Add a Task. Raises ValueError for options that do not fit, and for a task_id that is taken."""
    _check(definition)
    for listener in _listeners:
        listener(definition)
    _definitions[definition.task_id] = definition


def call_for_each(listener: Callable[[Definition], None]) -> None:
    """Calls the listener for every Task, now and when it is registered. It may refuse by an exception."""
    _listeners.append(listener)
    for definition in list(_definitions.values()):
        listener(definition)


def find(task: str | Callable[..., Any]) -> Definition:
    """The Task of that task_id, or of that function."""
    if isinstance(task, str):
        name, definition = task, _definitions.get(task)
    else:
        name = name_of(task)
        definition = next((each for each in _definitions.values() if each.function is task), None)
    if definition is None:
        raise UnknownTask(f"{name!r} is no Task that is registered in this process.")
    return definition


def _check(definition: Definition) -> None:
    task_id = definition.task_id
    if not task_id or len(task_id) > LONGEST_TASK_ID:
        raise ValueError(f"A task_id has 1 to {LONGEST_TASK_ID} characters; got {task_id!r}.")
    other = _definitions.get(task_id)
    if other is not None and not is_same(other.function, definition.function):
        raise ValueError(f"{task_id!r} is registered already, by {name_of(other.function)}.")
    if not is_role(definition.role):
        raise ValueError(f"{task_id!r}: {definition.role!r} is not the name of a role.")
    if definition.on_lost not in ON_LOST:
        raise ValueError(f"{task_id!r}: on_lost is one of {', '.join(ON_LOST)}.")
    if definition.timeout is not None and definition.timeout <= 0:
        raise ValueError(f"{task_id!r}: timeout is a number of seconds above 0.")
    if not isinstance(definition.exclusive, bool):
        raise ValueError(f"{task_id!r}: exclusive is True or False.")
    if definition.rate_limit is not None:
        try:
            parse_rate_limit(definition.rate_limit)
        except ValueError as error:
            raise ValueError(f"{task_id!r}: {error}") from None
    if definition.max_retries is not None and definition.max_retries < 0:
        raise ValueError(f"{task_id!r}: max_retries is 0 or more.")


def parse_rate_limit(text: str) -> tuple[int, int]:
    """The number of starts, and the seconds of the period. Raises ValueError."""
    match = RATE_LIMIT.fullmatch(text) if isinstance(text, str) else None
    if match is None or not 1 <= int(match[1]) <= MOST_STARTS:
        raise ValueError(
            f"rate_limit is a number of starts from 1 to {MOST_STARTS} in a second, minute, hour or day, "
            f"such as '10/m'; got {text!r}."
        )
    return int(match[1]), PERIODS[match[2]]


def name_of(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def is_same(first: Callable[..., Any], second: Callable[..., Any]) -> bool:
    """Whether both are one function, of a module that was loaded again."""
    return name_of(first) == name_of(second) and first.__code__ == second.__code__


def build_args_model(function: Callable[..., Any]) -> type[BaseModel]:
    """A model of the arguments after the context, which refuses any other."""
    hints = get_type_hints(function, include_extras=True)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    fields: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(
                f"{function.__qualname__}: a Task's arguments are named one by one, without * or **."
            )
        if parameter.name not in hints:
            raise TypeError(f"{function.__qualname__}: the argument {parameter.name!r} needs a type hint.")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    return create_model(
        f"{function.__name__}_args", __config__=ConfigDict(extra="forbid", strict=False), **fields
    )


def schema_of(args_model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of the arguments. Raises TypeError if JSON cannot hold one of them."""
    try:
        schema = args_model.model_json_schema()
    except PydanticInvalidForJsonSchema as error:
        name = args_model.__name__.removesuffix("_args")
        raise TypeError(f"{name}: JSON cannot hold an argument: {error.message}") from None
    schema.pop("title", None)
    return schema
