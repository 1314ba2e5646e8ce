"""Log lines without secrets that clients cannot forge.

Messages contain what clients send: a line break would start a forged line, and a credential would stay in
the log files. The formatter removes both.
"""

import logging
import re
from types import TracebackType

from jobs import log_fields
from jobs.api.framework import request_id
from jobs.redaction import redact
from jobs.run_logs.records import mark_clean

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def escape_controls(text: str) -> str:
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


class LineFormatter(logging.Formatter):
    """Writes each record as one line, with its traceback indented below it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the standard library's name)
        text = super().formatMessage(record)
        redacted = redact(text)
        if redacted == text:
            mark_clean(record, record.message)
        line = escape_controls(redacted)
        fields = {"request": request_id.current(), **log_fields.current_fields()}
        return " ".join([line, *(f"{name}={value}" for name, value in fields.items() if value)])

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
