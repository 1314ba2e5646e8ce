"""The Tasks that this process can run, which `dure.task` declares, as the engine and Celery see them."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any

from celery import Task as CeleryTask
from celery import shared_task
from django.conf import settings
from django.utils.module_loading import autodiscover_modules
from pydantic import ValidationError

# Modules that were written before there was the package import the decorator from here.
from dure import task as task
from dure.definitions import Definition
from jobs import backoff
from jobs.errors import ErrorText, pydantic_errors
from jobs.known_tasks import KnownTask, UnknownTask, in_fields


@dataclass(frozen=True, kw_only=True, eq=False)
class Task(KnownTask):
    """A Task with its function."""

    definition: Definition

    @property
    def autoretry_for(self) -> tuple[type[BaseException], ...]:
        return self.definition.autoretry_for

    @property
    def on_cancel(self) -> Callable[[str, dict[str, Any]], None] | None:
        return self.definition.on_cancel

    def call(self, context: Any, args: Mapping[str, Any]) -> Any:
        return self.definition.call(context, args)

    def delay_ms(self, strategy: str, base_ms: int, retry_count: int) -> int:
        """How long an Execution of this Task waits for its next attempt, by its own strategy and base."""
        longest = int(self.retry_backoff_max * 1000)
        return backoff.delay_ms(strategy, base_ms, retry_count, longest_ms=longest, jitter=self.retry_jitter)


_tasks: dict[str, Task] = {}


def describe_errors(error: ValidationError) -> list[ErrorText]:
    """The errors of the arguments, by name."""
    return in_fields(pydantic_errors(error, unknown="unknown_argument"))


def add(definition: Definition) -> None:
    """Make a Task known to the engine and to Celery: see JobsConfig.ready."""
    from jobs.runner import EngineTask  # the runner imports this module

    values = {field.name: getattr(definition, field.name) for field in fields(KnownTask)}
    _tasks[definition.task_id] = Task(**values, definition=definition)
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


def get(task_id: str) -> Task | None:
    """The Task of that name, if this process can run it."""
    load()
    return _tasks.get(task_id)


def find(task_id: str) -> Task:
    """The same, or UnknownTask."""
    task = get(task_id)
    if task is None:
        raise UnknownTask(task_id)
    return task


def all_tasks() -> list[Task]:
    load()
    return sorted(_tasks.values(), key=lambda task: task.task_id)


@functools.cache
def load() -> None:
    """Import the modules that register Dure's own Tasks."""
    autodiscover_modules("tasks")


def load_worker_modules() -> None:
    """Import the modules of DURE_WORKER_MODULES. Workers do so at their start; others read the catalogue."""
    load()
    for module in settings.DURE_WORKER_MODULES:
        import_module(module)
