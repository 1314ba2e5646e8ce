"""Checks the result files that workers report, and builds the reports of our own runs."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

from dure.failures import FailureType
from exports.failures import text
from exports.files import Parts, PathRefused, Placed, Store, checksum, split
from exports.messages import MAX_TEXT, Progress, Result
from exports.states import ErrorCode, Status
from jobs.states import ExecutionStatus


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is known about the result of an export that has not ended."""

    output: Parts
    # What our own run hashed while it wrote the output.
    own_output: Placed | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The file at the path that a result names; `error` is a code and a message."""

    parts: Parts = ()
    size: int = 0
    error: tuple[str, str] | None = None


def names_file(message: Progress | Result) -> bool:
    return isinstance(message, Result) and message.status == Status.SUCCEEDED


def inspect(
    store: Store, result: Result, expected: Expectation, hashed: Callable[[int], None] = lambda _size: None
) -> Verdict:
    """Inspect the file of a result, and hash it unless our own run did. A worker's mistake raises nothing."""
    try:
        parts = split(store.root, result.result_uri)
        if parts[:-1] != expected.output[:-1]:
            return Verdict(error=(ErrorCode.INVALID_OUTPUT_PATH, text("result_not_own")))
        with store.open(parts) as file:
            own_output = expected.own_output if parts == expected.output else None
            actual = _read_or_trust(file, own_output, hashed)
    except FileNotFoundError:
        return Verdict(error=(ErrorCode.OUTPUT_MISSING, text("result_missing")))
    except PathRefused as refusal:
        message = text("result_bad_path", problem=str(refusal))
        return Verdict(error=(ErrorCode.INVALID_OUTPUT_PATH, message))
    except OSError as error:
        message = text("result_unreadable", reason=error.strerror)
        return Verdict(error=(ErrorCode.OUTPUT_MISSING, message))
    if actual.sha256 != result.checksum:
        return Verdict(error=(ErrorCode.CHECKSUM_MISMATCH, text("checksum_mismatch")))
    return Verdict(parts, actual.size)


def _read_or_trust(file: BinaryIO, own_output: Placed | None, hashed: Callable[[int], None]) -> Placed:
    if own_output is not None and own_output.size == os.fstat(file.fileno()).st_size:
        return own_output
    return checksum(file, hashed)


def report_of(job_id: int, state: str, outcome: Any, failure_type: str, error: str) -> Result:
    """The end of our own run, as the message that a foreign worker would send."""
    if state == ExecutionStatus.SUCCESS:
        return Result(
            job_id, Status.SUCCEEDED, outcome["resultUri"], outcome["checksum"], "", outcome.get("note", "")
        )
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
