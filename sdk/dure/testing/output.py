"""The log of a run in a test: what the body logs and prints."""

import io
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass

from dure.log_records import text_of


@dataclass(frozen=True)
class LogLine:
    """`stream` is `log`, `stdout` or `stderr`; `level` and `logger` are those of a log record."""

    level: str
    stream: str
    logger: str | None
    message: str


@contextmanager
def collect_output() -> Iterator[list[LogLine]]:
    """The lines of the block, in order. Records below INFO are left out, as they are by a worker."""
    lines: list[LogLine] = []
    handler = _Handler(lines)
    root = logging.getLogger()
    level = root.level
    stdout, stderr = _Stream(lines, "stdout", "INFO"), _Stream(lines, "stderr", "WARNING")
    root.addHandler(handler)
    root.setLevel(min(level, logging.INFO) if level else logging.INFO)
    try:
        with redirect_stdout(stdout), redirect_stderr(stderr):
            yield lines
    finally:
        root.setLevel(level)
        root.removeHandler(handler)
        stdout.end_line()
        stderr.end_line()


class _Handler(logging.Handler):
    def __init__(self, lines: list[LogLine]) -> None:
        super().__init__(logging.INFO)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        try:
            message = text_of(record)
        except Exception:
            self.handleError(record)
            return
        self._lines.append(LogLine(record.levelname, "log", record.name, message))


class _Stream(io.TextIOBase):
    """Splits what is printed into lines, and passes it on, so that pytest shows it too."""

    def __init__(self, lines: list[LogLine], name: str, level: str) -> None:
        self._lines, self._stream, self._level = lines, name, level
        self._passed_to = getattr(sys, name)
        self._rest = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        self._passed_to.write(text)
        *whole, self._rest = (self._rest + text).split("\n")
        for line in whole:
            self._lines.append(LogLine(self._level, self._stream, None, line))
        return len(text)

    def end_line(self) -> None:
        if self._rest:
            self.write("\n")
