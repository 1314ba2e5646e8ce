"""Checks the result files that workers report, and builds the reports of our own runs."""

import os
from dataclasses import dataclass
from typing import Any

from exports.failures import text
from exports.files import Parts, PathRefused, Store, split
from exports.messages import MAX_TEXT, Result
from exports.states import ErrorCode, Status
from jobs.states import ExecutionStatus, FailureType


@dataclass(frozen=True, slots=True)
class Verdict:
    """The file at the path that a result names."""

    parts: Parts
    size: int
    error: tuple[str, str] | None = None

    def refusal(self, folder: Parts) -> tuple[str, str] | None:
        """Error code and message when the file cannot be the result of the job with this folder."""
        if self.error is not None:
            return self.error
        if self.parts[:-1] != folder:
            return ErrorCode.INVALID_OUTPUT_PATH, text("result_not_own")
        return None


def inspect(store: Store, result: Result) -> Verdict | None:
    """Inspect the file of a result; None without a file. Never raises: a bad path is a worker's error."""
    if result.status != Status.SUCCEEDED:
        return None
    try:
        parts = split(store.root, result.result_uri)
        with store.open(parts) as file:
            return Verdict(parts, os.fstat(file.fileno()).st_size)
    except FileNotFoundError:
        return Verdict((), 0, (ErrorCode.OUTPUT_MISSING, text("result_missing")))
    except PathRefused as refusal:
        message = text("result_bad_path", problem=str(refusal))
        return Verdict((), 0, (ErrorCode.INVALID_OUTPUT_PATH, message))
    except OSError as error:
        message = text("result_unreadable", reason=error.strerror)
        return Verdict((), 0, (ErrorCode.OUTPUT_MISSING, message))


def report_of(job_id: int, state: str, outcome: Any, failure_type: str, error: str) -> Result:
    """The end of our own run, as the message that a foreign worker would send."""
    if state == ExecutionStatus.SUCCESS:
        return Result(job_id, Status.SUCCEEDED, outcome["resultUri"], outcome["checksum"])
    if state == ExecutionStatus.CANCELLED:
        return Result(job_id, Status.CANCELLED)
    code, message = failure(failure_type, error)
    return Result(job_id, Status.FAILED, error_code=code, error_message=printable(message))


def failure(failure_type: str, error: str) -> tuple[str, str]:
    """Error code and message. The failures of our renderer begin with their code."""
    code, _, message = error.partition(": ")
    if code in ErrorCode.values:
        return code, message
    match failure_type:
        case FailureType.TIMEOUT:
            return ErrorCode.TIMEOUT, text("timeout")
        case FailureType.POISON | FailureType.WORKER_LOST:
            return ErrorCode.WORKER_LOST, text("worker_lost")
    return ErrorCode.RENDER_FAILED, text("render_failed", reason=error)


def printable(value: str) -> str:
    """One line, as messages require."""
    return "".join(sign if sign.isprintable() else " " for sign in value)[:MAX_TEXT]
