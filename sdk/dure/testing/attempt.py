"""How an attempt in a test ended."""

import json
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from dure.failures import RETRYABLE, FailureType, Stopped, TaskFailure, classify, describe
from dure.results import encode_result
from dure.testing import output
from dure.testing.fake_run import FakeRun
from dure.testing.output import LogLine


@dataclass(kw_only=True)
class AnyAttempt:
    """How an attempt of a Task or an operation ended, and what it reported."""

    outcome: Literal["success", "failure", "timeout", "cancelled"]
    value: Any = None
    error: BaseException | None = None
    failure_type: str | None = None
    error_message: str = ""
    is_retried: bool = False
    progress: list[tuple[float | None, str]] = field(default_factory=list)
    logs: list[LogLine] = field(default_factory=list)

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


A = TypeVar("A", bound=AnyAttempt)


def as_json(args: dict[str, Any]) -> dict[str, Any]:
    """The arguments as a worker receives them. A value that JSON cannot hold is an error of the test."""
    return dict(json.loads(json.dumps(args, allow_nan=False)))


def observe(kind: type[A], run: FakeRun, body: Callable[[], Any], *, retries: int) -> A:
    """Call the body. Its exception does not leave this function: it decides the outcome."""
    error: BaseException | None = None
    value = None
    with output.collect_output() as lines:
        try:
            value = json.loads(encode_result(_call(body)))
        except Exception as raised:
            error = raised
    attempt = kind(outcome="success", value=value, logs=lines, progress=run.reported)
    if run.cancelled:
        attempt.outcome, attempt.value = "cancelled", None
        attempt.error = error or Stopped("cancelled")
        attempt.failure_type, attempt.error_message = FailureType.CANCELLED, "Cancelled."
    elif error is not None:
        attempt.error, attempt.error_message = error, describe(error)
        attempt.failure_type = classify(error)
        attempt.outcome = "timeout" if attempt.failure_type == FailureType.TIMEOUT else "failure"
        attempt.is_retried = attempt.failure_type in RETRYABLE and run.attempt <= retries
    return attempt


def _call(body: Callable[[], Any]) -> Any:
    try:
        return body()
    except SystemExit as leaving:
        raise TaskFailure(f"The body called sys.exit({leaving.code!r}).") from None
