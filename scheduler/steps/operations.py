"""Runs one operation in a worker, with the job's arguments and the queue's context.

Not guaranteed: that an operation runs once. After a worker's death it starts again, with the context as it
was before. Its effects outside must tolerate that; `step.key` helps.
"""

import json
import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings

from dure import InvalidArgs
from dure.results import ESCAPED_NUL
from jobs.context import RunContext
from jobs.sql import call
from scheduler.steps import libraries
from scheduler.steps.position import Position


class StepRun:
    """The first argument of every operation."""

    def __init__(self, run: RunContext, context: dict[str, Any], key: str, direction: str) -> None:
        self._run = run
        self._context = context
        self.key = key
        """The same for both operations of this job in this run of its queue, and for every attempt: what the
        forward operation creates outside under this key, the backward operation finds under it."""
        self.direction = direction

    @property
    def context(self) -> dict[str, Any]:
        """The data that the operations of this run share. Change it in place; it must be JSON."""
        return self._context

    @property
    def attempt(self) -> int:
        return self._run.attempt

    @property
    def deadline(self) -> datetime:
        return self._run.deadline

    @property
    def cancelled(self) -> bool:
        """Was a rollback requested? Queries the database at most once a second."""
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


def run_operation(
    ctx: RunContext, queue_id: int, job_id: str, direction: str, library: str, operation: str
) -> Any:
    """Run an operation and return what it returns; its context goes into `ctx.extra`."""
    try:
        registered = libraries.find_own(library, operation)
    except libraries.UnknownOperation as unknown:
        raise InvalidArgs(str(unknown)) from None
    answer = call.function("dure_step_read", queue_id, ctx.execution_id, True)
    if answer is None:
        raise InvalidArgs("The queue no longer waits for this operation.")
    position = Position.read(answer)
    report = ctx.extra = OperationReport(position)
    before = context_json(answer["context"])
    step = StepRun(ctx, answer["context"], f"{queue_id}-{position.run}-{job_id}", direction)
    try:
        returned = registered.call(step, answer["arguments"])
    except BaseException:
        # The rollback may need what the operation noted before it failed. Its own error is the one to report.
        try:
            report.context = changed_context(step.context, before)
        except InvalidArgs as refused:
            step.logger.warning("%s The context stays as it was before the operation.", refused)
        raise
    report.context = changed_context(step.context, before)
    return returned


def changed_context(context: dict[str, Any], before: str) -> str | None:
    """The context as JSON, or None when it is unchanged. Raises InvalidArgs when it is not JSON."""
    text = context_json(context)
    if text == before:
        return None
    size = len(text.encode())
    if size > settings.DURE_MAX_CONTEXT_BYTES:
        raise InvalidArgs(
            f"The context has {size:,} bytes; a queue's context has at most "
            f"{settings.DURE_MAX_CONTEXT_BYTES:,}."
        )
    return text


def context_json(context: dict[str, Any]) -> str:
    try:
        text = json.dumps(context, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgs(f"The context is not JSON: {error}") from None
    if ESCAPED_NUL.search(text):
        raise InvalidArgs("The context holds a NUL character, which no database can store.")
    if json.loads(text) != context:
        raise InvalidArgs(
            "The context is not JSON: it holds a tuple or a key that is not a string, which would change "
            "when it is stored."
        )
    return text
