"""Results: what a worker's claim to have made a file is worth, and what our own runs report."""

import os
from dataclasses import dataclass
from typing import Any

from exports.files import Parts, PathRefused, Store, split
from exports.messages import MAX_TEXT, Result
from exports.states import ErrorCode, Status
from jobs.states import ExecutionStatus, FailureType


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found at the place that a result named."""

    parts: Parts
    size: int
    error: tuple[str, str] | None = None

    def refusal(self, folder: Parts) -> tuple[str, str] | None:
        """Why this cannot be the result of the job with this folder, as error code and message."""
        if self.error is not None:
            return self.error
        if self.parts[:-1] != folder:
            return ErrorCode.INVALID_OUTPUT_PATH, "The worker named a file that is not this job's own."
        return None


def inspect(store: Store, result: Result) -> Verdict | None:
    """None for a result that names no file. Never raises: a bad path is the worker's fault, not ours."""
    if result.status != Status.SUCCEEDED:
        return None
    try:
        parts = split(store.root, result.result_uri)
        with store.open(parts) as file:
            return Verdict(parts, os.fstat(file.fileno()).st_size)
    except FileNotFoundError:
        return Verdict((), 0, (ErrorCode.OUTPUT_MISSING, "The worker named a file that does not exist."))
    except PathRefused as refusal:
        return Verdict((), 0, (ErrorCode.INVALID_OUTPUT_PATH, f"The worker named a bad place. {refusal}"))
    except OSError as error:
        sentence = f"The file that the worker named cannot be read: {error.strerror}."
        return Verdict((), 0, (ErrorCode.OUTPUT_MISSING, sentence))


def report_of(job_id: int, state: str, outcome: Any, failure_type: str, error: str) -> Result:
    """The end of our own run as the message that a foreign worker would send."""
    if state == ExecutionStatus.SUCCESS:
        return Result(job_id, Status.SUCCEEDED, outcome["resultUri"], outcome["checksum"])
    if state == ExecutionStatus.CANCELLED:
        return Result(job_id, Status.CANCELLED)
    code, sentence = failure(failure_type, error)
    return Result(job_id, Status.FAILED, error_code=code, error_message=printable(sentence))


def failure(failure_type: str, error: str) -> tuple[str, str]:
    """Code and sentence. The renderer's own failures begin with their code."""
    code, _, sentence = error.partition(": ")
    if code in ErrorCode.values:
        return code, sentence
    match failure_type:
        case FailureType.TIMEOUT:
            return (
                ErrorCode.TIMEOUT,
                "The export took too long and was stopped. A shorter replay may succeed.",
            )
        case FailureType.POISON | FailureType.WORKER_LOST:
            return ErrorCode.WORKER_LOST, "Its worker died while making it. Ask for the export again."
    return ErrorCode.RENDER_FAILED, f"The renderer failed: {error}"


def printable(text: str) -> str:
    """One line, as the messages require."""
    return "".join(sign if sign.isprintable() else " " for sign in text)[:MAX_TEXT]
