"""Checks of a step queue's jobs: their operations are registered and accept the arguments."""

import json
from dataclasses import dataclass

from django.conf import settings

from jobs.errors import Conflict, ErrorText, FieldErrors, Invalid, TooLarge
from jobs.queues import served_roles
from scheduler.steps import libraries
from scheduler.steps.known_operations import KnownOperation
from scheduler.steps.models import Step, StepQueue
from scheduler.steps.states import EMPTY_ARGS, NO_OPERATION, UNINIT


@dataclass(frozen=True)
class QueueCheck:
    """What a run would fail at: the jobs with errors, and the roles of operations that no worker serves."""

    refused: list[tuple[Step, Invalid]]
    roles_without_worker: list[str]

    @property
    def is_valid(self) -> bool:
        return not self.refused and not self.roles_without_worker


def check_queue(queue: StepQueue) -> QueueCheck:
    """Check every job as if it was enqueued now: libraries change with the code."""
    steps = list(queue.steps.order_by("number"))
    if not steps:
        raise Conflict("queue_empty")
    refused = [(step, error) for step in steps if (error := _refusal(step)) is not None]
    roles = {operation.role for step in steps for operation in _operations(step)[0]}
    return QueueCheck(refused, sorted(roles - served_roles()))


def _refusal(job: Step) -> Invalid | None:
    if job.operation_library == UNINIT:
        return Invalid(errors={"operation_library": ["no_library"]})
    try:
        check_job(job)
    except Invalid as refused:
        return refused
    return None


def check_library(field: str, library: str) -> None:
    if library != UNINIT and not libraries.operations_in(library):
        registered = ", ".join(libraries.names()) or "none"
        text = ErrorText("unknown_library", library=library[:100], registered=registered)
        raise Invalid(code=text.code, errors={field: [text]})


def check_job(job: Step) -> None:
    """Without a library, only the size of the arguments can be checked yet."""
    if len(json.dumps(job.arguments).encode()) > settings.DURE_MAX_ARGS_BYTES:
        raise TooLarge("arguments_too_large", limit=settings.DURE_MAX_ARGS_BYTES)
    if job.operation_library == UNINIT:
        return
    check_library("operation_library", job.operation_library)
    operations, errors = _operations(job)
    if operations and not errors and (problems := _argument_problems(operations, job.arguments)):
        errors["arguments"] = problems[:50]
    if errors:
        raise Invalid("step_invalid", errors=errors)


def _operations(job: Step) -> tuple[list[KnownOperation], FieldErrors]:
    """The job's operations, and the errors of those that are not registered."""
    operations, errors = [], FieldErrors()
    for field in ("forward_operation", "backward_operation"):
        name = getattr(job, field)
        if name == NO_OPERATION:
            continue
        try:
            operations.append(libraries.find(job.operation_library, name))
        except libraries.UnknownOperation as unknown:
            errors[field] = [unknown.text]
    return operations, errors


def _argument_problems(operations: list[KnownOperation], arguments: object) -> list[ErrorText]:
    return [
        *_surplus_arguments(operations, arguments),
        *(problem for operation in operations for problem in operation.argument_problems(arguments)),
    ]


def _surplus_arguments(operations: list[KnownOperation], arguments: object) -> list[ErrorText]:
    """The arguments that neither operation takes."""
    if arguments == EMPTY_ARGS:
        return []
    if isinstance(arguments, dict):
        accepted = frozenset[str]().union(*(operation.argument_names for operation in operations))
        names = [name for name in arguments if name not in accepted]
        return [ErrorText("argument_of_neither", argument=name[:100]) for name in names]
    limit = max(len(operation.argument_names) for operation in operations)
    count = len(arguments) if isinstance(arguments, list) else 1
    return [ErrorText("arguments_too_many", count=count, limit=limit)] if count > limit else []
