"""Converts or measures a video in a child process, so that a decoder that crashes, hangs or is exploited
harms only that process.

The child inherits the open file, the target and a pipe, and an environment without secrets. It confines
itself before it reads (jobs/subprocesses/restrict.py), and ends with this call, however that ends. Its
messages are not trusted: an exploited decoder may write anything.
"""

import errno
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from exports.eventlog import MAX_DURATION_MS
from exports.failures import NOTES, TEXTS, BadReplay, on_one_line
from exports.render.options import DEFAULTS, RenderOptions
from exports.render.progress import Cancelled, Meter
from exports.states import JobType, Phase
from jobs.subprocesses.isolated import python_command
from jobs.subprocesses.process_tree import kill_tree
from jobs.subprocesses.restrict import Limits

COMMAND = python_command("exports.render.sandbox_child")
# With these malloc returns the memory of a picture as soon as it is free, instead of leaving holes.
ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1", "LC_ALL": "C.UTF-8"}
MIB = 2**20
# More than a video within the standards needs (memory_budget.py); four hours of 10 Mbit/s.
LIMITS = Limits(memory=320 * MIB, cpu_seconds=2 * 3600, output=18 * 1024 * MIB)
# An upload waits for it. Only headers are read, or without them the times of the packets.
MEASURE_LIMITS = Limits(memory=320 * MIB, cpu_seconds=20, output=MIB)
MEASURE_SECONDS = 30.0
# The interval of checks for a cancel while the child is silent.
CHECK_SECONDS = 0.2
READ_BYTES, MAX_LINE, MAX_TEXT = 65_536, 4_096, 500
EXIT_TIMEOUT_SECONDS = 5.0


NONSENSE = "The decoding process sent a message that is not valid."


@dataclass(frozen=True, slots=True)
class Conversion:
    """What the child does: to a type of export or `length`, from a kind of video."""

    name: str
    kind: str
    options: RenderOptions = DEFAULTS


class RenderFailed(Exception):
    """The fault is ours: the decoding process did not do its work."""


def convert(
    job_type: JobType,
    kind: str,
    source: BinaryIO,
    target: Path,
    meter: Meter,
    options: RenderOptions = DEFAULTS,
    limits: Limits = LIMITS,
) -> str | None:
    """Writes the target; answers one of NOTES, or None.

    Raises BadReplay, OSError when no space is left, and what the meter raises."""
    try:
        with target.open("xb") as output:
            end = _run(Conversion(str(job_type), kind, options), source, output, meter, limits)
    except OSError as error:
        if error.errno == errno.EFBIG and target.stat().st_size >= limits.output:
            raise BadReplay("output_too_large", limit=f"{limits.output / 1024 / MIB:.0f}") from None
        raise
    if end is True:
        return None
    if isinstance(end, str) and end in NOTES:
        return end
    raise RenderFailed(NONSENSE)


def measure(kind: str, source: BinaryIO, limits: Limits = MEASURE_LIMITS) -> int:
    """The length of a video in milliseconds. Raises BadReplay when it cannot be read."""
    deadline = time.monotonic() + MEASURE_SECONDS
    meter = Meter(lambda _report: None, lambda: time.monotonic() > deadline)
    try:
        with Path(os.devnull).open("r+b") as nothing:
            end = _run(Conversion("length", kind), source, nothing, meter, limits)
    except Cancelled:
        raise BadReplay("decoder_out_of_time") from None
    if type(end) is not int or not 0 <= end <= MAX_DURATION_MS:
        raise RenderFailed(NONSENSE)
    return end


def _run(conversion: Conversion, source: BinaryIO, output: BinaryIO, meter: Meter, limits: Limits) -> object:
    """What the child sent at its end."""
    with tempfile.TemporaryFile() as errors:
        with _process(conversion, source, output, limits, errors) as (process, pipe):
            outcome = _read_messages(pipe, meter)
            code = process.wait(EXIT_TIMEOUT_SECONDS)
        _check_outcome(outcome, code, limits, errors)
        return outcome["end"]


@contextmanager
def _process(
    conversion: Conversion, source: BinaryIO, output: BinaryIO, limits: Limits, errors: IO[bytes]
) -> "Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]":
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        try:
            process = _start(conversion, (source.fileno(), output.fileno(), writing), limits, errors)
        finally:
            os.close(writing)
        try:
            yield process, pipe
        finally:
            if process.poll() is None:
                kill_tree(process.pid)
                process.wait(EXIT_TIMEOUT_SECONDS)


def _start(
    conversion: Conversion, files: tuple[int, int, int], limits: Limits, errors: IO[bytes]
) -> "subprocess.Popen[bytes]":
    numbers = (*files, os.getpid(), limits.memory, limits.cpu_seconds, limits.output)
    return subprocess.Popen(  # noqa: S603 (our own program; nothing of a client is in the command)
        [
            *COMMAND,
            conversion.name,
            conversion.kind,
            *map(str, numbers),
            json.dumps(conversion.options.values()),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        env=ENVIRONMENT,
        pass_fds=files,
        start_new_session=True,
    )


def _read_messages(pipe: IO[bytes], meter: Meter) -> dict[str, Any]:
    """Passes progress to the meter until the pipe is closed; answers the last message if it is an outcome."""
    outcome: dict[str, Any] = {}
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            if not selector.select(CHECK_SECONDS):
                meter.check()
                continue
            piece = os.read(pipe.fileno(), READ_BYTES)
            if not piece:
                return outcome
            *lines, rest = (rest + piece).split(b"\n")
            if len(rest) > MAX_LINE:
                raise RenderFailed(NONSENSE)
            for line in lines:
                outcome = _handle_line(line, meter)


def _handle_line(line: bytes, meter: Meter) -> dict[str, Any]:
    """Progress goes to the meter; anything else may be the outcome."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise RenderFailed(NONSENSE)
    done, total = message.get("done"), message.get("of")
    if type(done) is int and type(total) is int and 0 <= done <= total:
        meter.at(Phase.RENDERING, done, total)
        return {}
    return message


def _check_outcome(outcome: dict[str, Any], code: int, limits: Limits, errors: IO[bytes]) -> None:
    if outcome.get("memory") is True or code == -signal.SIGKILL:
        raise BadReplay("decoder_out_of_memory", limit=limits.memory // MIB)
    if code == -signal.SIGXCPU:
        raise BadReplay("decoder_out_of_time")
    if code < 0:
        raise BadReplay("decoder_crashed", signal=_signal_name(-code))
    if "bad" in outcome:
        raise _bad_replay(outcome["bad"], outcome.get("params"))
    if type(outcome.get("errno")) is int:
        raise OSError(outcome["errno"], os.strerror(outcome["errno"]))
    if code != 0 or outcome.keys() != {"end"}:
        errors.seek(max(errors.seek(0, os.SEEK_END) - MAX_TEXT, 0))
        output = outcome.get("error") or errors.read().decode(errors="replace")
        message = on_one_line(output, MAX_TEXT)
        raise RenderFailed(f"The decoding process ended with {code}: {message}")


def _bad_replay(code: object, params: object) -> Exception:
    if not isinstance(code, str) or code not in TEXTS or not isinstance(params, dict):
        return RenderFailed(NONSENSE)
    try:
        return BadReplay(code, **{name: on_one_line(value, MAX_TEXT) for name, value in params.items()})
    except (KeyError, TypeError):
        return RenderFailed(NONSENSE)


def _signal_name(number: int) -> str:
    return signal.Signals(number).name if number in signal.valid_signals() else str(number)
