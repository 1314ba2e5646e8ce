"""The child process that decodes a video. It inherits open files and a pipe, and confines itself.

sandbox.py starts it. It writes one JSON object per line: its progress, and at the end the outcome.
"""

import errno
import io
import json
import os
import re
import signal
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import av
from PIL import Image

from exports.failures import BadReplay
from exports.render import convert
from exports.render.options import RenderOptions
from jobs.subprocesses import linux
from jobs.subprocesses.restrict import Limits, confine

REPORT_EVERY_SECONDS = 0.05
# PyAV imports these when it meets the first of a kind, and Pillow does so in preinit: after `confine` that
# would fail.
LATE_IMPORTS = (
    "av.audio.codeccontext",
    "av.audio.stream",
    "av.subtitles.codeccontext",
    "av.subtitles.stream",
)
CONVERSIONS: dict[str, Callable[..., int | str | None]] = {
    **{name: partial(convert.to_video, file_format=name) for name in ("MP4", "WEBM", "GIF")},
    "THUMBNAIL": convert.to_thumbnail,
    "length": lambda source, kind, _target, _report, **_options: convert.measure_ms(source, kind),
}


def main(argv: list[str]) -> None:
    """Arguments: conversion, kind of file, descriptors of source, target, pipe; parent, limits, options."""
    conversion, kind, *numbers, options = argv
    render_options = RenderOptions(**json.loads(options))
    source, target, pipe, parent, memory, cpu_seconds, output = map(int, numbers)
    limits = Limits(memory, cpu_seconds, output)
    linux.die_with_parent(parent)
    # Python itself relies on ignoring these two.
    linux.reset_signals(keep={signal.SIGPIPE, signal.SIGXFSZ})
    for name in LATE_IMPORTS:
        import_module(name)
    Image.preinit()
    peak_memory = PeakMemory()
    confine(limits)
    target_file = Target(target)
    try:
        with os.fdopen(source, "rb") as recording, target_file:
            recording.seek(0)  # our parent's read-ahead may have left it anywhere
            end = CONVERSIONS[conversion](
                recording, kind, target_file, ProgressPipe(pipe), options=render_options
            )
    except Exception as error:
        # Decoders report invalid data when they get no memory for another picture.
        _send(pipe, **_failure(target_file.failed or error, peak_memory.bytes() > memory * 0.85))
    else:
        _send(pipe, end=True if end is None else end)


def _failure(error: Exception, tight: bool) -> dict[str, Any]:
    if isinstance(error, MemoryError) or (tight and isinstance(error, (BadReplay, av.FFmpegError))):
        return {"memory": True}
    if isinstance(error, BadReplay):
        return {"bad": error.code, "params": error.params}
    if isinstance(error, OSError) and not isinstance(error, av.FFmpegError):
        return {"errno": error.errno or errno.EIO}
    return {"error": f"{type(error).__name__}: {error}"[:500]}


class PeakMemory:
    """The most memory this process has had. Its file must be opened before `confine`.

    Not getrusage: its maximum outlives exec, so it would be that of the worker at the fork.
    """

    def __init__(self) -> None:
        try:
            self._status = os.open("/proc/self/status", os.O_RDONLY)
        except OSError:
            self._status = -1

    def bytes(self) -> int:
        """0 where the system does not report it."""
        text = os.pread(self._status, 8_192, 0) if self._status >= 0 else b""
        match = re.search(rb"VmHWM:\s+(\d+) kB", text)
        return int(match[1]) * 1024 if match else 0


class Target(io.FileIO):
    """Remembers why a write failed: FFmpeg may lose the reason."""

    failed: OSError | None = None

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w+b")

    def write(self, data: Any) -> int:
        """Writes everything or raises: FFmpeg does not check how much was written."""
        left = memoryview(data)
        try:
            while left:
                left = left[super().write(left) :]
        except OSError as error:
            self.failed = error
            raise
        return len(data)


class ProgressPipe:
    def __init__(self, pipe: int) -> None:
        self._pipe, self._sent_at = pipe, 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._sent_at >= REPORT_EVERY_SECONDS:
            self._sent_at = now
            _send(self._pipe, done=done, of=total)


def _send(pipe: int, **message: Any) -> None:
    """When the reader has ended, the error ends this process."""
    os.write(pipe, json.dumps(message).encode() + b"\n")
