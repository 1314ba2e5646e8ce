"""Carries out one operation in a worker: the job's arguments and the queue's context go in.

Not guaranteed: that an operation runs once. After a worker's death it starts again, with the context as it
was before; whatever it does outside must bear that, and `step.key` is there to make it so.
"""

import json
import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings

from jobs.context import Context
from jobs.errors import TaskFailure
from jobs.runner import ESCAPED_NUL
from jobs.sql import call
from jobs.states import FailureType
from scheduler.steps import handover, libraries
from scheduler.steps.handover import Handover
from scheduler.steps.states import EMPTY_ARGS


class StepRun:
    """Handed to every operation as its first argument."""

    def __init__(self, run: Context, context: dict[str, Any], key: str, direction: str) -> None:
        self._run = run
        self._context = context
        self.key = key
        """The same for both operations of this job in this run of its queue, and for every attempt: what the
        forward operation makes outside under this key, the backward operation finds under it."""
        self.direction = direction

    @property
    def context(self) -> dict[str, Any]:
        """What the operations of this run share. Change it in place; it has to be JSON."""
        return self._context

    @property
    def attempt(self) -> int:
        return self._run.attempt

    @property
    def deadline(self) -> datetime:
        return self._run.deadline

    @property
    def cancelled(self) -> bool:
        """Has somebody asked the run to turn back? Asks the database at most once a second."""
        return self._run.cancelled

    @property
    def logger(self) -> logging.Logger:
        return self._run.logger

    def progress(self, fraction: float | None = None, message: str = "") -> None:
        self._run.progress(fraction, message)


def carry_out(ctx: Context, queue_id: int, job_id: str, direction: str, library: str, operation: str) -> Any:
    """What the operation returns. The context it leaves goes to whoever reports the end: handover.py."""
    try:
        known = libraries.find(library, operation)
    except libraries.UnknownOperation as unknown:
        raise TaskFailure(str(unknown), FailureType.INVALID_ARGS) from None
    walk = call.function("dure_step_read", queue_id, ctx.execution_id, True)
    if walk is None:
        raise TaskFailure("The queue does not wait for this operation any more.", FailureType.INVALID_ARGS)
    context, arguments = walk.pop("context"), walk.pop("arguments")
    left = handover.begin(ctx.execution_id, walk)
    before = as_json(context)
    step = StepRun(ctx, context, f"{queue_id}-{walk['run']}-{job_id}", direction)
    try:
        returned = known.call(step, given(arguments))
    except BaseException:
        # What it did until then may have to be undone; the operation's own error is the one that counts.
        leave_what_is_json(left, step, before)
        raise
    left.context = changed(step.context, before)
    return returned


def given(arguments: Any) -> Mapping[str, Any]:
    return {} if arguments == EMPTY_ARGS else arguments


def leave_what_is_json(left: Handover, step: StepRun, before: str) -> None:
    try:
        left.context = changed(step.context, before)
    except TaskFailure as refused:
        step.logger.warning("%s It stays as it was before the operation.", refused)


def changed(context: dict[str, Any], before: str) -> str | None:
    """The context as JSON; None where it is as it was. Raises TaskFailure where it is not JSON."""
    text = as_json(context)
    if text == before:
        return None
    size = len(text.encode())
    if size > settings.DURE_MAX_CONTEXT_BYTES:
        raise TaskFailure(
            f"The context has {size:,} bytes; a queue's context has at most "
            f"{settings.DURE_MAX_CONTEXT_BYTES:,}.",
            FailureType.INVALID_ARGS,
        )
    return text


def as_json(context: dict[str, Any]) -> str:
    try:
        text = json.dumps(context, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise TaskFailure(f"The context is not JSON: {error}", FailureType.INVALID_ARGS) from None
    if ESCAPED_NUL.search(text):
        raise TaskFailure(
            "The context holds a NUL character, which no database can store.", FailureType.INVALID_ARGS
        )
    if json.loads(text) != context:
        raise TaskFailure(
            "The context is not JSON: it holds a key that is no text, or a tuple, and would come back "
            "as something else.",
            FailureType.INVALID_ARGS,
        )
    return text
