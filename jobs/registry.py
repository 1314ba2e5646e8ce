"""The registered Tasks, which `dure.task` declares, as the engine and Celery see them."""

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from celery import Task as CeleryTask
from celery import shared_task
from django.utils.module_loading import autodiscover_modules
from pydantic import ValidationError

from dure.definitions import Definition
from jobs import backoff
from jobs.errors import ArgsRefused, CodedError, ErrorText, pydantic_errors


@dataclass(frozen=True, kw_only=True, eq=False)
class Task(Definition):
    """A Task as the engine sees it."""

    def delay_ms(self, strategy: str, base_ms: int, retry_count: int) -> int:
        """How long an Execution of this Task waits for its next attempt, by its own strategy and base."""
        longest = int(self.retry_backoff_max * 1000)
        return backoff.delay_ms(strategy, base_ms, retry_count, longest_ms=longest, jitter=self.retry_jitter)

    def check_args(self, args: Mapping[str, Any], unchecked: Collection[str] = ()) -> None:
        """Raises ArgsRefused, naming each argument that does not fit.

        `unchecked` are arguments whose values are known later; they must exist all the same.
        """
        try:
            self.args_model.model_validate(args)
        except ValidationError as error:
            errors = describe_errors(error, unchecked=self.args_model.model_fields.keys() & set(unchecked))
            if errors:
                raise ArgsRefused(errors) from None


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


def add(definition: Definition) -> None:
    """Make a Task known to the engine and to Celery: see JobsConfig.ready."""
    from jobs.runner import EngineTask  # the runner imports this module

    options = {field.name: getattr(definition, field.name) for field in fields(definition)}
    _tasks[definition.task_id] = Task(**options)
    shared_task(
        name=definition.task_id,
        base=EngineTask,
        bind=True,
        autoretry_for=definition.autoretry_for,
        retry_backoff=definition.retry_backoff or False,
        retry_backoff_max=int(definition.retry_backoff_max),
        retry_jitter=definition.retry_jitter,
        # The row limits the retries: see EngineTask.retry.
        max_retries=None,
    )(_run_registered)


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
