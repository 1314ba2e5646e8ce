"""Runs an operation of a step queue in a test."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dure import step_operations
from dure.step_context import keep_context
from dure.testing.attempt import AnyAttempt, as_json, observe
from dure.testing.fake_step_run import FakeStepRun

# The retries of a backward operation that sets none, in an installation that sets none.
DEFAULT_RETRIES = 3
FORWARD_STATES = {"success": "SUCCESS", "timeout": "TIMEOUT"}


@dataclass(kw_only=True)
class OperationAttempt(AnyAttempt):
    """How an attempt of an operation ended, and what it reported.

    `state`: forward `SUCCESS`, `FAILED` or `TIMEOUT`, of which the last two roll the queue back; backward
    `CANCELED` or `FAILED`, which the job's state gets at its end.
    `context`: what it has left for the operations after it.
    `is_retried`: whether Dure would start another attempt; it never does so forward.
    """

    state: str = ""
    context: dict[str, Any] = field(default_factory=dict)


def run_operation(
    operation: Callable[..., Any], step: FakeStepRun | None = None, /, **arguments: Any
) -> OperationAttempt:
    """Run one attempt of an operation, forward unless `step` says otherwise, as a worker would.

    `arguments` are those of the job, of which the operation takes those that it names. They are converted to
    JSON and checked against the type hints; what it returns and leaves in the context must be JSON too.
    An exception of the operation does not leave this function: it decides the outcome.
    """
    registered = step_operations.find(operation)
    step = step or FakeStepRun()
    sent = as_json(arguments)
    step.begin(registered)
    stored = json.loads(json.dumps(step.context))

    def keep(context: str | None) -> None:
        nonlocal stored
        stored = stored if context is None else json.loads(context)

    def body() -> Any:
        with keep_context(step, keep):
            return registered.call(step, sent)

    attempt = observe(OperationAttempt, step, body, retries=_retries(registered, step))
    step.context.clear()
    step.context.update(stored)
    attempt.context = json.loads(json.dumps(stored))
    attempt.state = _state(step.direction, attempt.outcome)
    return attempt


def _retries(operation: step_operations.Operation, step: FakeStepRun) -> int:
    if step.direction == "FORWARD":
        return 0
    return DEFAULT_RETRIES if operation.max_retries is None else operation.max_retries


def _state(direction: str, outcome: str) -> str:
    if direction == "BACKWARD":
        return "CANCELED" if outcome == "success" else "FAILED"
    return FORWARD_STATES.get(outcome, "FAILED")
