"""`sys.stdout` and `sys.stderr` while a body runs."""

import io
import os
import sys
from typing import Any

from jobs.run_logs import current
from jobs.run_logs.lines import STDERR, STDOUT

DESCRIPTORS = {STDOUT: 1, STDERR: 2}


class PrintedText(io.TextIOBase):
    """Text of the body goes to its log; of other threads, to the stream before."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, stream: str, before: Any) -> None:
        self.name = f"<{stream}>"
        self._stream, self._before = stream, before

    @property
    def buffer(self) -> io.FileIO:
        """Bytes take the way of the programs' output."""
        return io.FileIO(self.fileno(), "w", closefd=False)

    def write(self, text: str, /) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        log = current.log_of_this_thread()
        if log is not None:
            log.print(self._stream, text)
        elif current.is_forked():
            os.write(self.fileno(), text.encode(errors="replace"))
        elif self._before is not None:
            self._before.write(text)
        return len(text)

    def fileno(self) -> int:
        return DESCRIPTORS[self._stream]

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        """A body cannot close the stream of later runs."""


def replace_streams() -> tuple[Any, Any]:
    """Returns the streams before, for `restore_streams`."""
    before = (sys.stdout, sys.stderr)
    sys.stdout = PrintedText(STDOUT, before[0])
    sys.stderr = PrintedText(STDERR, before[1])
    return before


def restore_streams(before: tuple[Any, Any]) -> None:
    sys.stdout, sys.stderr = before
