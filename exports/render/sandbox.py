"""Has a video read in a process of its own, so that a decoder which crashes, hangs or was taken over costs
that process and nothing else.

The process gets the file, the target and a pipe, all open, and an environment without secrets. It is
confined before it reads (confine.py), and ends with this call, however that ends. What it says is not
believed: a decoder that was taken over may say anything.
"""

import errno
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

from exports.eventlog import BadReplay
from exports.render.progress import Meter
from exports.render.restrict import Limits
from exports.states import JobType, Phase
from jobs.subprocesses.process_tree import kill_tree

ROOT = Path(__file__).resolve().parents[2]
# -I: what the environment or a folder holds does not get into it.
COMMAND = (
    sys.executable,
    "-I",
    "-c",
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from exports.render.sandbox_child import main; main(sys.argv[2:])",
    str(ROOT),
)
# With these the memory of a picture goes back as soon as it is free, instead of leaving holes.
ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1", "LC_ALL": "C.UTF-8"}
# Carries a run's id (jobs/runner.py), by which a worker finds what a dead pool process left behind.
MARK = "DURE_EXECUTION_ID"
MIB = 2**20
# More than a video may take that keeps to the standards (thrift.py); four hours of 10 Mbit/s.
LIMITS = Limits(memory=320 * MIB, cpu_seconds=2 * 3600, output=18 * 1024 * MIB)
MAKE = {JobType.MP4: "film", JobType.THUMBNAIL: "picture"}
# How often it is asked whether to go on while nothing is heard.
TICK_SECONDS = 0.2
READ, LONGEST_LINE = 65_536, 4_096
PATIENCE_SECONDS = 5.0


class RenderFailed(Exception):
    """The fault is ours: the process that reads videos did not do its work."""


def make(
    job_type: JobType, kind: str, source: BinaryIO, target: Path, meter: Meter, limits: Limits = LIMITS
) -> None:
    """Writes the target. Raises BadReplay, OSError where no space is left, and what the meter raises."""
    with tempfile.TemporaryFile() as errors:
        with _started(job_type, kind, source, target, limits, errors) as (process, pipe):
            end = _follow(pipe, meter)
            code = process.wait(PATIENCE_SECONDS)
        if end.get("errno") == errno.EFBIG and target.stat().st_size >= limits.output:
            gib = limits.output / 1024 / MIB
            raise BadReplay(f"The film would become larger than {gib:.0f} GiB.", too_large=True)
        _judge(end, code, limits, errors)


@contextmanager
def _started(
    job_type: JobType, kind: str, source: BinaryIO, target: Path, limits: Limits, errors: IO[bytes]
) -> "Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]":
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        try:
            with target.open("xb") as made:
                process = _start(job_type, kind, (source.fileno(), made.fileno(), writing), limits, errors)
        finally:
            os.close(writing)
        try:
            yield process, pipe
        finally:
            if process.poll() is None:
                kill_tree(process.pid)
                process.wait(PATIENCE_SECONDS)


def _start(
    job_type: JobType, kind: str, files: tuple[int, int, int], limits: Limits, errors: IO[bytes]
) -> "subprocess.Popen[bytes]":
    numbers = (*files, os.getpid(), limits.memory, limits.cpu_seconds, limits.output)
    mark = {MARK: os.environ[MARK]} if MARK in os.environ else {}
    return subprocess.Popen(  # noqa: S603 (our own program; nothing of a client is in the command)
        [*COMMAND, MAKE[job_type], kind, *map(str, numbers)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        env={**ENVIRONMENT, **mark},
        pass_fds=files,
        start_new_session=True,
    )


def _follow(pipe: IO[bytes], meter: Meter) -> dict[str, Any]:
    """Passes on how far it is, until the pipe is closed; what it said last, if that was an end."""
    end: dict[str, Any] = {}
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            if not selector.select(TICK_SECONDS):
                meter.check()
                continue
            piece = os.read(pipe.fileno(), READ)
            if not piece:
                return end
            *lines, rest = (rest + piece).split(b"\n")
            if len(rest) > LONGEST_LINE:
                raise RenderFailed("The process that reads the video talks nonsense.")
            for line in lines:
                end = _heard(line, meter)


def _heard(line: bytes, meter: Meter) -> dict[str, Any]:
    """Progress goes to the meter; whatever else it is may be the end."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise RenderFailed("The process that reads the video talks nonsense.")
    done, total = said.get("done"), said.get("of")
    if type(done) is int and type(total) is int and 0 <= done <= total:
        meter.at(Phase.RENDERING, done, total)
        return {}
    return said


def _judge(end: dict[str, Any], code: int, limits: Limits, errors: IO[bytes]) -> None:
    if end.get("memory") is True or code == -signal.SIGKILL:
        raise BadReplay(
            f"The video needs more than {limits.memory // MIB} MiB of memory to be read. Its pictures are "
            "too large, or its encoder made them refer to too many others.",
            too_large=True,
        )
    if code == -signal.SIGXCPU:
        raise BadReplay("The video takes too long to be read.", too_large=True)
    if code < 0:
        raise BadReplay(f"The video cannot be read: its decoder crashed ({_named(-code)}).")
    if "bad" in end:
        raise BadReplay(_plain(end["bad"]), too_large=end.get("tooLarge") is True)
    if type(end.get("errno")) is int:
        raise OSError(end["errno"], os.strerror(end["errno"]))
    if code != 0 or end != {"end": True}:
        errors.seek(max(errors.seek(0, os.SEEK_END) - 500, 0))
        said = _plain(end.get("error") or errors.read().decode(errors="replace"))
        raise RenderFailed(f"The process that reads the video ended with {code}: {said}")


def _named(number: int) -> str:
    return signal.Signals(number).name if number in signal.valid_signals() else str(number)


def _plain(text: object) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in str(text))[:500]
