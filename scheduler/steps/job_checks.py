"""Checks of a step queue's jobs: their operations are registered and accept the arguments."""

import json

from django.conf import settings

from jobs.errors import ErrorText, FieldErrors, Invalid, TooLarge
from scheduler.steps import libraries
from scheduler.steps.libraries import Operation
from scheduler.steps.models import Step
from scheduler.steps.states import EMPTY_ARGS, NO_OPERATION, UNINIT


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
    errors: FieldErrors = {}
    operations = []
    for field in ("forward_operation", "backward_operation"):
        name = getattr(job, field)
        if name == NO_OPERATION:
            continue
        try:
            operations.append(libraries.find(job.operation_library, name))
        except libraries.UnknownOperation as unknown:
            errors[field] = [unknown.text]
    if operations and not errors and (problems := _argument_problems(operations, job.arguments)):
        errors["arguments"] = problems[:50]
    if errors:
        raise Invalid("step_invalid", errors=errors)


def _argument_problems(operations: list[Operation], arguments: object) -> list[ErrorText]:
    return [
        *_surplus_arguments(operations, arguments),
        *(problem for operation in operations for problem in operation.argument_problems(arguments)),
    ]


def _surplus_arguments(operations: list[Operation], arguments: object) -> list[ErrorText]:
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
