"""What the processes say: each line to its log file and, with the process's name before it, to us."""

import os
import select
import sys
from collections import deque
from io import FileIO
from pathlib import Path

from config.up.steps import RESET, is_coloured

COLOURS = ("\033[36m", "\033[33m", "\033[35m", "\033[34m", "\033[32m", "\033[91m", "\033[96m", "\033[95m")
LAST_LINES = 15
LONGEST_LINE = 64 * 2**10
LARGEST_LOG = 32 * 2**20
# What a pipe or terminal that is ready to write takes without making us wait.
CHUNK = 4096


class Screen:
    """Our standard output. When nobody reads it, lines are left out rather than anything held up."""

    def __init__(self, names: list[str]) -> None:
        self.width = max((len(name) for name in names), default=0)
        self.colours = {name: COLOURS[n % len(COLOURS)] for n, name in enumerate(names)}
        self.coloured = is_coloured()
        self.left_out = 0
        self.closed = False

    def show(self, name: str, line: bytes) -> None:
        label = f"{name:<{self.width}} | "
        if self.coloured:
            label = f"{self.colours[name]}{label}{RESET}"
        if self.left_out and self._write(f"… {self.left_out} lines left out, see the logs\n".encode()):
            self.left_out = 0
        if not self._write(label.encode() + line + b"\n"):
            self.left_out += 1

    def _write(self, data: bytes) -> bool:
        if self.closed:
            return False
        descriptor = sys.stdout.fileno()
        try:
            for start in range(0, len(data), CHUNK):
                if not select.select([], [descriptor], [], 0)[1]:
                    return False
                os.write(descriptor, data[start : start + CHUNK])
        except OSError:
            self.closed = True  # the terminal is gone; the logs go on
            return False
        return True


class Voice:
    """One process's output, cut into lines."""

    def __init__(self, name: str, screen: Screen, log: Path) -> None:
        self.name = name
        self.screen = screen
        self.log = log
        self.last: deque[str] = deque(maxlen=LAST_LINES)
        self._rest = b""
        self._log_failed = False
        self._file = _open(log)

    def hear(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._tell(line)
        if len(self._rest) > LONGEST_LINE:
            self._tell(self._rest)
            self._rest = b""

    def close(self) -> None:
        if self._rest:
            self._tell(self._rest)
        self._file.close()

    def _tell(self, line: bytes) -> None:
        line = line.rstrip(b"\r")
        self.last.append(line.decode(errors="replace"))
        try:
            self._file.write(line + b"\n")
            if self._file.tell() > LARGEST_LOG:
                self._turn_page()
        except OSError as error:
            if not self._log_failed:
                self._log_failed = True
                self.screen.show(self.name, f"(its log cannot be written: {error.strerror})".encode())
        self.screen.show(self.name, line)

    def _turn_page(self) -> None:
        self._file.close()
        self.log.replace(self.log.with_suffix(".log.1"))
        self._file = _open(self.log)


def _open(log: Path) -> FileIO:
    return FileIO(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab")
