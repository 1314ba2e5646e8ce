"""The files of results: checks what workers report, and opens what was recorded."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from django.conf import settings

from exports.failures import text
from exports.files import Parts, PathRefused, Placed, Store, checksum, split
from exports.messages import Progress, Result
from exports.models import ExportJob
from exports.states import ErrorCode, Status


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


class NotAsRecorded(OSError):
    """Another file has taken the place of the one that was recorded."""


def open_result(job: ExportJob) -> BinaryIO:
    """The recorded file of an export. Raises FileNotFoundError, NotAsRecorded or PathRefused."""
    store = Store(settings.DURE_EXPORT_PATH)
    file = store.open(split(store.root, job.result_uri))
    if os.fstat(file.fileno()).st_size != job.result_size:
        file.close()
        raise NotAsRecorded
    return file
