"""The messages of the checks as lines and as JSON, and the exit code."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import ERROR, WARNING, CheckMessage

from config.logs import escape_controls
from jobs.redaction import redact

ALL_OK, WARNINGS, ERRORS = 0, 1, 2
EXIT_CODES = """exit codes:
  0  everything is in order
  1  there are warnings, and no errors
  2  there are errors, or with --strict warnings"""
# The words of the JSON document.
OK, WARN, BAD = "ok", "warn", "bad"

# The name of a subject, and a message of one of its checks.
Result = tuple[str, CheckMessage]


def level(message: CheckMessage) -> str:
    if message.level >= ERROR:
        return BAD
    return WARN if message.level >= WARNING else OK


def lines(subject: str, message: CheckMessage) -> list[str]:
    first = f"{level(message):<5} {subject:<11} {message.obj:<15} {clean(message.msg)}"
    return [first, f"{'':<34}→ {clean(message.hint)}"] if message.hint else [first]


def clean(text: str) -> str:
    """Return the text as one line, without secrets of drivers and URLs."""
    return escape_controls(redact(text))


def clean_lines(text: str) -> str:
    return "\n".join(clean(line) for line in text.splitlines())


def summary(results: Sequence[Result]) -> str:
    levels = [level(message) for _, message in results]
    warnings, errors = _count_text(levels.count(WARN), "warning"), _count_text(levels.count(BAD), "error")
    return f"{levels.count(OK)} ok, {warnings}, {errors}"


def _count_text(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def document(results: Sequence[Result]) -> dict[str, Any]:
    levels = {level(message) for _, message in results}
    return {
        "status": next((word for word in (BAD, WARN) if word in levels), OK),
        "findings": [
            {
                "level": level(message),
                "subject": subject,
                "name": message.obj,
                "found": clean(message.msg),
                "advice": clean(message.hint or "") or None,
            }
            for subject, message in results
        ],
    }


def exit_code(results: Sequence[Result], *, strict: bool) -> int:
    worst = max((message.level for _, message in results), default=0)
    if worst >= ERROR:
        return ERRORS
    if worst >= WARNING:
        return ERRORS if strict else WARNINGS
    return ALL_OK
