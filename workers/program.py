"""Runs a program in a session of its own that ends with the run, however either of them ends.

    with Session(["git", "fetch"], environment) as session:
        for output in session.output(): ...
        session.exit_code

Leaving the block, by a time-out or a cancel too, ends the program and all it started: SIGTERM first,
SIGKILL after the grace. When the worker is killed, the supervisor sees it and does the same.
"""

import json
import os
import selectors
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

from django.conf import settings

from jobs.subprocesses.process_tree import kill_tree
from workers.tempdirs import private_home

ROOT = Path(__file__).resolve().parent.parent
# -I and -S: what the environment or a folder holds does not get into the supervisor.
BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); from workers.subprocess_guard import main; "
    "main(int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), sys.argv[5:])"
)
READ = 65_536
MAX_GRACE_SECONDS = 2.0
# The supervisor answers within the grace; when it does not, something holds it up.
PATIENCE_SECONDS = 6.0


class NotStarted(Exception):
    """The program could not be started."""


class Session:
    """`name` says where it runs: `ps -s` with the number at its end lists its processes."""

    name: str
    exit_code: int | None = None

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        self._argv, self._environment = list(argv), dict(environment)
        # Half of what the engine grants before it kills, so that there is time to write the end down.
        self._grace = min(MAX_GRACE_SECONDS, settings.DURE_GRACE_SECONDS / 2)

    def __enter__(self) -> Self:
        self._home = private_home()
        home, lock = self._home.__enter__()
        try:
            self._start(home, lock)
        except BaseException:
            self._home.__exit__(None, None, None)
            raise
        self.name = f"cmd-{socket.gethostname()}-{self._process.pid}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._lifeline.close()
            try:
                self._process.wait(self._grace + PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                kill_tree(self._process.pid)
                self._process.wait(PATIENCE_SECONDS)
        finally:
            self._stdout.close()
            self._report.close()
            self._home.__exit__(None, None, None)

    def output(self, tick: float = 1.0) -> Iterator[bytes]:
        """What the program writes, as it does; an empty piece after every `tick` of silence.

        Ends when the program has ended, with `exit_code` set: negative for the signal that ended it.
        """
        told = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            selector.register(self._report, selectors.EVENT_READ)
            while self._report in selector.get_map():
                ready = [key.fileobj for key, _ in selector.select(tick)]
                if not ready:
                    yield b""
                if self._stdout in ready:
                    piece = os.read(self._stdout.fileno(), READ)
                    if piece:
                        yield piece
                    else:
                        selector.unregister(self._stdout)
                if self._report in ready:
                    piece = os.read(self._report.fileno(), READ)
                    told += piece
                    if not piece:
                        selector.unregister(self._report)
        yield from self._rest()
        self._settle(told)

    def _start(self, home: Path, lock: int) -> None:
        inherited, lifeline = os.pipe()
        self._lifeline: IO[bytes] = os.fdopen(lifeline, "wb", buffering=0)
        report, reported = os.pipe()
        self._report: IO[bytes] = os.fdopen(report, "rb", buffering=0)
        program = [sys.executable, "-I", "-S", "-c", BOOT, str(ROOT), str(inherited), str(reported)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 (the caller's argv, never through a shell)
                [*program, str(self._grace), *self._argv],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
                cwd=home,
                env={**self._environment, "HOME": str(home), "TMPDIR": str(home)},
                start_new_session=True,
                pass_fds=(inherited, reported, lock),
            )
        except BaseException:
            self._lifeline.close()
            self._report.close()
            raise
        finally:
            os.close(inherited)
            os.close(reported)
        self._stdout = cast(IO[bytes], self._process.stdout)

    def _rest(self) -> Iterator[bytes]:
        """What is left in the pipe. Not to its end: a process in the kernel may still hold it open."""
        os.set_blocking(self._stdout.fileno(), False)
        while piece := self._stdout.read(READ):
            yield piece

    def _settle(self, told: bytes) -> None:
        report = json.loads(told) if told else {}
        if "error" in report:
            raise NotStarted(report["error"])
        # Nothing told: the supervisor itself was killed, and the command with it.
        self.exit_code = int(report.get("exit_code", -9))
