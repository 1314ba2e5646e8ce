"""Runs one operation in a worker, with the job's arguments and the queue's context.

Not guaranteed: that an operation runs once. After a worker's death it starts again, with the context as it
was before. Its effects outside must tolerate that; `step.key` helps.
"""

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings

from dure import InvalidArgs
from dure import StepRun as StepRun  # modules that were written before there was the package import it here
from dure.step_context import keep_context
from jobs.context import RunContext
from jobs.errors import NotOnThisWorker
from jobs.sql import call
from scheduler.steps import libraries
from scheduler.steps.position import Position


class WorkerStepRun:
    """The run, as the operation sees it: `dure.StepRun`."""

    def __init__(self, run: RunContext, context: dict[str, Any], key: str, direction: str) -> None:
        self._run = run
        self._context = context
        self.key = key
        self.direction = direction

    @property
    def context(self) -> dict[str, Any]:
        return self._context

    @property
    def attempt(self) -> int:
        return self._run.attempt

    @property
    def deadline(self) -> datetime:
        return self._run.deadline

    @property
    def cancelled(self) -> bool:
        return self._run.cancelled

    @property
    def logger(self) -> logging.Logger:
        return self._run.logger

    def progress(self, fraction: float | None = None, message: str = "") -> None:
        self._run.progress(fraction, message)


@dataclass
class OperationReport:
    """The position that the operation read, and the context that it left as JSON; None if unchanged.

    `advance` gets it as the settlement's `extra`. The context is no part of the result: results are kept
    and have a size limit of their own, and a failure has no result.
    """

    position: Position
    context: str | None = None

    def keep(self, context: str | None) -> None:
        self.context = context


def find_own(library: str, operation: str) -> libraries.Operation:
    """The operation, if this worker has it: another one may have it, or none any more."""
    try:
        return libraries.find_own(library, operation)
    except libraries.UnknownOperation:
        pass
    try:
        libraries.find(library, operation)
    except libraries.UnknownOperation as unknown:
        raise InvalidArgs(str(unknown)) from None
    raise NotOnThisWorker(f"the operation {library}.{operation}")


def run_operation(
    ctx: RunContext, queue_id: int, job_id: str, direction: str, library: str, operation: str
) -> Any:
    """Run an operation and return what it returns; its context goes into `ctx.extra`."""
    registered = find_own(library, operation)
    answer = call.function("dure_step_read", queue_id, ctx.execution_id, True)
    if answer is None:
        raise InvalidArgs("The queue no longer waits for this operation.")
    position = Position.read(answer)
    report = ctx.extra = OperationReport(position)
    key = f"{queue_id}-{position.run}-{job_id}"
    step = WorkerStepRun(ctx, answer["context"], key, direction)
    with keep_context(step, report.keep, settings.DURE_MAX_CONTEXT_BYTES):
        return registered.definition.call(step, answer["arguments"])
