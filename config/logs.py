"""Log lines without secrets that clients cannot forge.

Messages contain what clients send: a line break would start a forged line, and a credential would stay in
the log files. The formatter removes both.
"""

import logging
import re
from types import TracebackType

from jobs.api.framework import request_id

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_NAMES = r"(?:password|passwd|secret|token|api[_-]?key|dsn|ticket|csrfmiddlewaretoken|sessionid)"
_RULES = (
    # Whole headers, since their values contain spaces.
    (
        re.compile(
            r"(?i)\b(authorization|(?:set-)?cookie)(['\"]?\s{0,3}[:=]\s{0,3})(?:b?'[^'\n]*'|\"[^\"\n]*\"|[^\n]+)"
        ),
        r"\1\2***",
    ),
    (re.compile(r"(?i)\b(bearer|basic|token)\s{1,3}[A-Za-z0-9._~+/=-]{16,}"), r"\1 ***"),
    # name=value, "name": "value", name: value
    (
        re.compile(
            rf"(?i)({_NAMES}[a-z0-9_-]{{0,20}}['\"]?\s{{0,3}}[:=]\s{{0,3}})(?:b?'[^'\n]*'|\"[^\"\n]*\"|[^\s,;&)}}\]]+)"
        ),
        r"\1***",
    ),
    # scheme://user:password@host
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}://)[^\s/'\"]{1,256}@"), r"\1***@"),
    # Our own tokens, anywhere in the text.
    (re.compile(r"dure_[A-Za-z0-9_-]{32,}"), "dure_***"),
)


def redact(text: str) -> str:
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


def escape_controls(text: str) -> str:
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


class LineFormatter(logging.Formatter):
    """Writes each record as one line, with its traceback indented below it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the standard library's name)
        line = escape_controls(redact(super().formatMessage(record)))
        request = request_id.current()
        return f"{line} request={request}" if request else line

    def formatException(  # noqa: N802
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None],
    ) -> str:
        return _indent(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802
        return _indent(super().formatStack(stack_info))

    def format(self, record: logging.LogRecord) -> str:
        record.exc_text = None  # another formatter may have cached a traceback with secrets
        return super().format(record)


def _indent(text: str) -> str:
    return "\n".join("    " + escape_controls(line) for line in redact(text).split("\n"))
