"""The registered Tasks: functions under a `task_id`, declared by one decorator."""

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from celery import Task as CeleryTask
from celery import shared_task
from django.utils.module_loading import autodiscover_modules
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from jobs import backoff
from jobs.errors import CodedError, ErrorText, InvalidArgs, pydantic_errors
from jobs.roles import is_role
from jobs.states import OnLost

TASK_ID_LONGEST = 200


@dataclass(frozen=True)
class Task:
    """A registered function, with its declared options."""

    task_id: str
    function: Callable[..., Any]
    role: str
    description: str
    args_model: type[BaseModel]
    timeout: float | None  # seconds; None leaves it to the office
    max_retries: int | None
    retry_backoff: float | None  # Celery's word for the base of the delay, in seconds
    retry_backoff_max: float
    retry_jitter: bool
    autoretry_for: tuple[type[BaseException], ...]
    on_lost: str
    atomic: bool
    on_cancel: Callable[..., None] | None
    public: bool
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its args."""
        schema = self.args_model.model_json_schema()
        schema.pop("title", None)
        return schema

    def delay_ms(self, strategy: str, base_ms: int, retry_count: int) -> int:
        """How long an Execution of this Task waits for its next attempt, by its own strategy and base."""
        longest = int(self.retry_backoff_max * 1000)
        return backoff.delay_ms(strategy, base_ms, retry_count, longest_ms=longest, jitter=self.retry_jitter)

    def check_args(self, args: Mapping[str, Any], unchecked: Collection[str] = ()) -> None:
        """Raises InvalidArgs, naming each argument that does not fit.

        `unchecked` are arguments whose values are known later; they must exist all the same.
        """
        try:
            self.args_model.model_validate(args)
        except ValidationError as error:
            errors = describe_errors(error, unchecked=self.args_model.model_fields.keys() & set(unchecked))
            if errors:
                raise InvalidArgs(errors=errors) from None

    def call(self, context: Any, args: Mapping[str, Any]) -> Any:
        values = self.args_model.model_validate(args)
        return self.function(context, **{name: getattr(values, name) for name in type(values).model_fields})


class UnknownTask(CodedError, LookupError):
    """No Task of that name is registered."""

    def __init__(self, task_id: str) -> None:
        super().__init__("unknown_task", task=task_id)


_tasks: dict[str, Task] = {}


def describe_errors(error: ValidationError, unchecked: Collection[str] = ()) -> list[ErrorText]:
    """The errors of the arguments, by name, without those of the unchecked ones."""
    return [
        ErrorText("in_field", field=name or "args", text=text)
        for name, texts in pydantic_errors(error, unknown="unknown_argument").items()
        if name.partition(".")[0] not in unchecked
        for text in texts
    ]


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


def task(
    task_id: str,
    *,
    role: str = "default",
    timeout: float | None = None,
    max_retries: int | None = None,
    retry_backoff: float | None = None,
    retry_backoff_max: float = 3600,
    retry_jitter: bool = False,
    autoretry_for: tuple[type[BaseException], ...] = (Exception,),
    on_lost: str = OnLost.RETRY,
    atomic: bool = False,
    on_cancel: Callable[..., None] | None = None,
    public: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function as a Task; docs/tasks.md explains each option.

    `atomic`: the body's own writes to this database commit together with its result, or not at all.
    `on_lost="fail"`: never start again after a worker died in the middle. `on_cancel(execution_id,
    args)` is called once when a run was stopped by a cancel. `public=False` hides
    it from clients: only the system itself starts it.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        from jobs.runner import EngineTask  # the runner imports this module

        if not task_id or len(task_id) > TASK_ID_LONGEST:
            raise ValueError(f"A task_id has 1 to {TASK_ID_LONGEST} characters; got {task_id!r}.")
        other = _tasks.get(task_id)
        if other is not None and not is_same(other.function, function):
            by = f"{other.function.__module__}.{other.function.__qualname__}"
            raise ValueError(f"{task_id!r} is registered already, by {by}.")
        if not is_role(role):
            raise ValueError(f"{task_id!r}: {role!r} is not the name of a role.")
        if on_lost not in OnLost.values:
            raise ValueError(f"{task_id!r}: on_lost is one of {', '.join(OnLost.values)}.")
        _tasks[task_id] = Task(
            task_id=task_id,
            function=function,
            role=role,
            description=inspect.getdoc(function) or "",
            args_model=build_args_model(function),
            timeout=timeout,
            max_retries=max_retries,
            retry_backoff=retry_backoff,
            retry_backoff_max=retry_backoff_max,
            retry_jitter=retry_jitter,
            autoretry_for=autoretry_for,
            on_lost=on_lost,
            atomic=atomic,
            on_cancel=on_cancel,
            public=public,
        )
        shared_task(
            name=task_id,
            base=EngineTask,
            bind=True,
            autoretry_for=autoretry_for,
            retry_backoff=retry_backoff or False,
            retry_backoff_max=int(retry_backoff_max),
            retry_jitter=retry_jitter,
            # The row limits the retries: see EngineTask.retry.
            max_retries=None,
        )(_run_registered)
        return function

    return register


def is_same(first: Callable[..., Any], second: Callable[..., Any]) -> bool:
    """Whether both are one function, of a module that was loaded again."""
    return (first.__module__, first.__qualname__, first.__code__) == (
        second.__module__,
        second.__qualname__,
        second.__code__,
    )


def _run_registered(self: CeleryTask, execution_id: str, dispatch: int) -> None:
    """The function that Celery calls for every Task."""
    from jobs.runner import run

    run(self, execution_id, dispatch)


def find(task_id: str) -> Task:
    """The Task of that name, or UnknownTask."""
    load()
    try:
        return _tasks[task_id]
    except KeyError:
        raise UnknownTask(task_id) from None


def all_tasks() -> list[Task]:
    load()
    return sorted(_tasks.values(), key=lambda task: task.task_id)


@functools.cache
def load() -> None:
    """Import the modules that register Tasks: a worker does so at its start, the web on first use."""
    autodiscover_modules("tasks")
