"""Runs an attempt of a Task in a test."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dure import definitions
from dure.testing.attempt import AnyAttempt, as_json, observe
from dure.testing.fake_context import FakeContext
from dure.testing.submissions import Submission

# The retries of a Task that sets none, in an office that sets none.
DEFAULT_RETRIES = 2


@dataclass(kw_only=True)
class Attempt(AnyAttempt):
    """How an attempt of a Task ended, and what it reported.

    `is_retried`: whether Dure would start another attempt.
    `logs`: what the body logged and printed, in order.
    """

    submitted: list[Submission] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)


def run(task: str | Callable[..., Any], context: FakeContext | None = None, /, **args: Any) -> Attempt:
    """Run one attempt of a Task with these arguments, as a worker would.

    The arguments are converted to JSON and checked against the type hints, and the result must be JSON too.
    An exception of the body does not leave this function: it decides the outcome.
    """
    definition = definitions.find(task)
    context = context or FakeContext()
    sent = as_json(args)
    context.begin(definition)
    before = len(context.submitted)
    retries = DEFAULT_RETRIES if definition.max_retries is None else definition.max_retries
    attempt = observe(Attempt, context, lambda: definition.call(context, sent), retries=retries)
    attempt.is_retried = attempt.is_retried and isinstance(attempt.error, definition.autoretry_for)
    attempt.submitted, attempt.sessions = context.submitted[before:], context.sessions
    if attempt.outcome == "cancelled" and definition.on_cancel is not None:
        definition.on_cancel(context.execution_id, sent)
    return attempt
