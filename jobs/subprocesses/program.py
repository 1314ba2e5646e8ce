"""Runs a program in a session of its own that ends with the run, however either of them ends.

    with Program(["git", "fetch"], environment) as program:
        for output in program.output(): ...
        program.exit_code

Leaving the block, also by a timeout or a cancel, ends the program and everything it started: SIGTERM first,
SIGKILL after the grace. When the worker is killed, the guard notices and does the same.
"""

import json
import os
import selectors
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

from django.conf import settings

from jobs.subprocesses.isolated import python_command
from jobs.subprocesses.process_tree import kill_tree
from jobs.subprocesses.tempdirs import private_home

GUARD = python_command("jobs.subprocesses.guard", site_packages=False)
READ_BYTES = 65_536
MAX_GRACE_SECONDS = 2.0
# The guard ends within the grace; after this much more it is killed.
EXIT_TIMEOUT_SECONDS = 6.0


class NotStarted(Exception):
    """The program could not be started."""


class Program:
    """`session_name` says where the program runs: `ps -s` with the number at its end lists its processes."""

    session_name: str
    exit_code: int | None = None

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        self._argv, self._environment = list(argv), dict(environment)
        # Half of the engine's grace, which leaves time to write the end down.
        self._grace = min(MAX_GRACE_SECONDS, settings.DURE_GRACE_SECONDS / 2)

    def __enter__(self) -> Self:
        self._home = private_home()
        home, lock = self._home.__enter__()
        try:
            self._start(home, lock)
        except BaseException:
            self._home.__exit__(None, None, None)
            raise
        self.session_name = f"cmd-{socket.gethostname()}-{self._process.pid}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._lifeline.close()
            try:
                self._process.wait(self._grace + EXIT_TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                kill_tree(self._process.pid)
                self._process.wait(EXIT_TIMEOUT_SECONDS)
        finally:
            self._stdout.close()
            self._report.close()
            self._home.__exit__(None, None, None)

    def output(self, tick: float = 1.0) -> Iterator[bytes]:
        """Yield the program's output as it comes, and an empty piece after every `tick` without any.

        Ends when the program has ended, with `exit_code` set: negative for the signal that ended it.
        """
        report = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            selector.register(self._report, selectors.EVENT_READ)
            while self._report in selector.get_map():
                ready = [key.fileobj for key, _ in selector.select(tick)]
                if not ready:
                    yield b""
                if self._stdout in ready:
                    piece = os.read(self._stdout.fileno(), READ_BYTES)
                    if piece:
                        yield piece
                    else:
                        selector.unregister(self._stdout)
                if self._report in ready:
                    piece = os.read(self._report.fileno(), READ_BYTES)
                    report += piece
                    if not piece:
                        selector.unregister(self._report)
        yield from self._remaining_output()
        self._read_report(report)

    def _start(self, home: Path, lock: int) -> None:
        lifeline_end, lifeline = os.pipe()
        self._lifeline: IO[bytes] = os.fdopen(lifeline, "wb", buffering=0)
        report, report_end = os.pipe()
        self._report: IO[bytes] = os.fdopen(report, "rb", buffering=0)
        try:
            self._process = subprocess.Popen(  # noqa: S603 (the caller's argv, never through a shell)
                [*GUARD, str(lifeline_end), str(report_end), str(self._grace), *self._argv],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
                cwd=home,
                env={**self._environment, "HOME": str(home), "TMPDIR": str(home)},
                start_new_session=True,
                pass_fds=(lifeline_end, report_end, lock),
            )
        except BaseException:
            self._lifeline.close()
            self._report.close()
            raise
        finally:
            os.close(lifeline_end)
            os.close(report_end)
        self._stdout = cast(IO[bytes], self._process.stdout)

    def _remaining_output(self) -> Iterator[bytes]:
        """The remaining output of the pipe, without waiting for its end: a stuck process may hold it open."""
        os.set_blocking(self._stdout.fileno(), False)
        while piece := self._stdout.read(READ_BYTES):
            yield piece

    def _read_report(self, text: bytes) -> None:
        report = json.loads(text) if text else {}
        if "error" in report:
            raise NotStarted(report["error"])
        # No report: the guard itself was killed, and the command with it.
        self.exit_code = int(report.get("exit_code", -9))
