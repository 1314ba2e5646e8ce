"""One attempt of a Task in a test."""

import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dure import definitions
from dure.context import Context
from dure.definitions import Definition
from dure.failures import RETRYABLE, FailureType, Stopped, TaskFailure, classify, describe
from dure.results import encode_result
from dure.testing import output
from dure.testing.fake_context import FakeContext
from dure.testing.output import LogLine
from dure.testing.submissions import Submission

# The retries of a Task that sets none, in an office that sets none.
DEFAULT_RETRIES = 2


@dataclass(kw_only=True)
class Attempt:
    """How an attempt ended, and what it reported.

    `is_retried`: whether Dure would start another attempt.
    `logs`: what the body logged and printed, in order.
    """

    outcome: Literal["success", "failure", "timeout", "cancelled"]
    value: Any = None
    error: BaseException | None = None
    failure_type: str | None = None
    error_message: str = ""
    is_retried: bool = False
    progress: list[tuple[float | None, str]] = field(default_factory=list)
    logs: list[LogLine] = field(default_factory=list)
    submitted: list[Submission] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)

    @property
    def result(self) -> Any:
        """The result, as the API would return it. Raises the error of an attempt that did not succeed."""
        if self.error is not None:
            raise self.error
        return self.value

    @property
    def messages(self) -> list[str]:
        """The log without levels and loggers."""
        return [line.message for line in self.logs]

    @property
    def traceback(self) -> str:
        return "" if self.error is None else "".join(traceback.format_exception(self.error))


def run(task: str | Callable[..., Any], context: FakeContext | None = None, /, **args: Any) -> Attempt:
    """Run one attempt of a Task with these arguments, as a worker would.

    The arguments are converted to JSON and checked against the type hints, and the result must be JSON too.
    An exception of the body does not leave this function: it decides the outcome.
    """
    definition = definitions.find(task)
    context = context or FakeContext()
    # A value that JSON cannot hold is an error of the test.
    sent: dict[str, Any] = json.loads(json.dumps(args, allow_nan=False))
    context.begin(definition)
    before = len(context.submitted)
    error, value = None, None
    with output.collected() as lines:
        try:
            value = json.loads(encode_result(_call(definition, context, sent)))
        except Exception as raised:
            error = raised
    attempt = _ending(definition, context, error)
    attempt.value = value if attempt.outcome == "success" else None
    attempt.logs, attempt.progress, attempt.sessions = lines, context.reported, context.sessions
    attempt.submitted = context.submitted[before:]
    if attempt.outcome == "cancelled" and definition.on_cancel is not None:
        definition.on_cancel(context.execution_id, sent)
    return attempt


def _call(definition: Definition, context: Context, args: Mapping[str, Any]) -> Any:
    try:
        return definition.call(context, args)
    except SystemExit as leaving:
        raise TaskFailure(f"The body called sys.exit({leaving.code!r}).") from None


def _ending(definition: Definition, context: FakeContext, error: BaseException | None) -> Attempt:
    if context.cancelled:
        return Attempt(
            outcome="cancelled",
            error=error or Stopped("cancelled"),
            failure_type=FailureType.CANCELLED,
            error_message="Cancelled.",
        )
    if error is None:
        return Attempt(outcome="success")
    failure_type = classify(error)
    retries = DEFAULT_RETRIES if definition.max_retries is None else definition.max_retries
    return Attempt(
        outcome="timeout" if failure_type == FailureType.TIMEOUT else "failure",
        error=error,
        failure_type=failure_type,
        error_message=describe(error),
        is_retried=isinstance(error, definition.autoretry_for)
        and failure_type in RETRYABLE
        and context.attempt <= retries,
    )
