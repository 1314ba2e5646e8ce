"""The process that decodes: given open files and a pipe, confined, and gone when it is done.

apart.py starts it. It tells, a JSON object a line, how far it is; and at the end how it went.
"""

import errno
import io
import json
import os
import re
import signal
import time
from importlib import import_module
from typing import Any

import av
from PIL import Image

from exports.eventlog import BadReplay
from exports.render import convert
from exports.render.restrict import Limits, confine, tie_to_parent

TELL_EVERY_SECONDS = 0.05
# What PyAV imports when it meets the first of its kind, as Pillow does in preinit: then it is too late.
IMPORTED_LATE = (
    "av.audio.codeccontext",
    "av.audio.stream",
    "av.subtitles.codeccontext",
    "av.subtitles.stream",
)
MAKE = {"film": convert.film, "picture": convert.picture}


def main(argv: list[str]) -> None:
    """What to make, of what kind of file; descriptors of source, target and pipe; parent; limits."""
    what, kind, *numbers = argv
    source, target, pipe, parent, memory, cpu_seconds, output = map(int, numbers)
    limits = Limits(memory, cpu_seconds, output)
    tie_to_parent(parent)
    _hear_signals()
    for name in IMPORTED_LATE:
        import_module(name)
    Image.preinit()
    gauge = Gauge()
    confine(limits)
    made = Target(target)
    try:
        with os.fdopen(source, "rb") as given, made:
            given.seek(0)  # wherever the reading ahead of our parent's had left it
            MAKE[what](given, kind, made, Teller(pipe))
    except Exception as error:
        # Decoders call it invalid data when they get no memory for another picture.
        _tell(pipe, **_failed(made.failed or error, gauge.peak() > memory * 0.85))
    else:
        _tell(pipe, end=True)


def _hear_signals() -> None:
    """A worker ignores some signals, and what is ignored stays so in every program that it starts."""
    pythons_own = {signal.SIGPIPE, signal.SIGXFSZ}
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP} - pythons_own:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _failed(error: Exception, tight: bool) -> dict[str, Any]:
    if isinstance(error, MemoryError) or (tight and isinstance(error, (BadReplay, av.FFmpegError))):
        return {"memory": True}
    if isinstance(error, BadReplay):
        return {"bad": str(error), "tooLarge": error.too_large}
    if isinstance(error, OSError) and not isinstance(error, av.FFmpegError):
        return {"errno": error.errno or errno.EIO}
    return {"error": f"{type(error).__name__}: {error}"[:500]}


class Gauge:
    """How much memory this process had at most. Opened before nothing can be opened any more.

    Not getrusage: its maximum outlives exec, so it would be that of the worker at the fork.
    """

    def __init__(self) -> None:
        try:
            self._status = os.open("/proc/self/status", os.O_RDONLY)
        except OSError:
            self._status = -1

    def peak(self) -> int:
        """In bytes; 0 where the system does not tell."""
        text = os.pread(self._status, 8_192, 0) if self._status >= 0 else b""
        found = re.search(rb"VmHWM:\s+(\d+) kB", text)
        return int(found[1]) * 1024 if found else 0


class Target(io.FileIO):
    """Remembers why it could not be written: on its way through FFmpeg the reason may be lost."""

    failed: OSError | None = None

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w+b")

    def write(self, data: Any) -> int:
        """All of it, or an error: FFmpeg does not ask how much was written."""
        left = memoryview(data)
        try:
            while left:
                left = left[super().write(left) :]
        except OSError as error:
            self.failed = error
            raise
        return len(data)


class Teller:
    def __init__(self, pipe: int) -> None:
        self._pipe, self._told_at = pipe, 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._told_at >= TELL_EVERY_SECONDS:
            self._told_at = now
            _tell(self._pipe, done=done, of=total)


def _tell(pipe: int, **message: Any) -> None:
    """When nobody reads any more, this process ends by the error."""
    os.write(pipe, json.dumps(message).encode() + b"\n")
