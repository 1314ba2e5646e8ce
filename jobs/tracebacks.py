"""The traceback of a failed attempt: the frames of its body, and those of the errors behind its error."""

import sys
from pathlib import Path
from traceback import FrameSummary, StackSummary, TracebackException

import billiard
import celery
import kombu

import dure
from jobs.redaction import Redactor

MAX_BYTES = 64 * 1024
_CUT = "\n[… {} bytes of this traceback were left out …]\n"
# The code between a message and the body, and what a body calls in it.
_FRAMEWORK = tuple(
    f"{Path(str(module.__file__)).parent}/"
    for module in (sys.modules[__package__], dure, celery, billiard, kombu)
)


def format_traceback(error: BaseException, redactor: Redactor) -> str:
    """The traceback without secrets and framework frames; empty if no frame is left."""
    described = TracebackException.from_exception(error)
    if not _trim(described):
        return ""
    return _cut(redactor.redact("".join(described.format()).rstrip("\n")))


def _trim(described: TracebackException) -> bool:
    """Remove the framework's frames, also from the errors in its chain. Whether any frame is left."""
    pending, seen, is_any_left = [described], set(), False
    while pending:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        current.stack = StackSummary.from_list([frame for frame in current.stack if not _is_framework(frame)])
        is_any_left = is_any_left or bool(current.stack)
        related = [current.__cause__, current.__context__, *(getattr(current, "exceptions", None) or ())]
        pending.extend(other for other in related if other is not None)
    return is_any_left


def _is_framework(frame: FrameSummary) -> bool:
    return frame.filename.startswith(_FRAMEWORK)


def _cut(text: str) -> str:
    """The beginning and the end: the first says where it began, the last what the error is."""
    encoded = text.encode(errors="replace")
    if len(encoded) <= MAX_BYTES:
        return text
    half = (MAX_BYTES - len(_CUT.encode()) - 20) // 2
    left_out = _CUT.format(len(encoded) - 2 * half)
    return encoded[:half].decode(errors="ignore") + left_out + encoded[-half:].decode(errors="ignore")
