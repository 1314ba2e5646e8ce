"""Starts processes that end with this one, and stops them; waits that a signal interrupts."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Protocol

from config.dev.home import Home
from jobs.subprocesses import linux

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
KILL_SECONDS = 5.0
LARGEST_LOG = 32 * 2**20
# Ctrl-C arrives twice, from the terminal and from make; that is one request.
SAME_REQUEST_SECONDS = 0.5

_received: list[tuple[int, float]] = []


class ChildProcess(Protocol):
    """What is needed of Popen."""

    pid: int

    def poll(self) -> int | None: ...

    def send_signal(self, number: signal.Signals, /) -> None: ...


class Startable(Protocol):
    def start(self, home: Home, log: Path) -> ChildProcess:
        """Start it, in a session of its own, with its output in this file, which exists."""


class Interrupted(Exception):
    """This process received a signal to stop."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A program that is executed."""

    arguments: Sequence[str | Path]
    env: Mapping[str, str] | None = None
    cwd: Path | str | None = None
    # In place of the log.
    stdout: IO[bytes] | None = None
    # The kernel sends it when this process dies.
    death_signal: signal.Signals = signal.SIGKILL
    # Files of ours that it has too, besides the lock.
    inherited: Sequence[int] = ()

    def start(self, home: Home, log: Path) -> ChildProcess:
        """Only the main thread may call this, since the kernel ties the process to the calling thread."""
        runner = os.getpid()
        with log.open("ab") as file:
            return subprocess.Popen(
                [str(part) for part in self.arguments],
                stdin=subprocess.DEVNULL,
                stdout=self.stdout or file,
                stderr=file,
                start_new_session=True,
                pass_fds=[home.lock.fileno(), *self.inherited],
                preexec_fn=lambda: prepare(runner, self.death_signal),  # noqa: PLW1509
                env=self.env,
                cwd=self.cwd,
            )


class Process:
    """A program in a session of its own, with its output in a log file."""

    def __init__(
        self,
        home: Home,
        name: str,
        program: Startable,
        *,
        stop_signal: signal.Signals = signal.SIGTERM,
        stop_seconds: float = 15.0,
    ) -> None:
        self.name = name
        self.log = home.logs / f"{name}.log"
        self.stop_signal = stop_signal
        self.stop_seconds = stop_seconds
        self.killed = False
        if self.log.exists() and self.log.stat().st_size > LARGEST_LOG:
            self.log.replace(self.log.with_suffix(".log.1"))
        self.log.touch(0o600)
        self.log_start = self.log.stat().st_size
        self.child = program.start(home, self.log)
        home.record_group(self.pid)

    @property
    def pid(self) -> int:
        return self.child.pid

    @property
    def returncode(self) -> int | None:
        return self.child.poll()

    def has_ended(self) -> bool:
        return self.returncode is not None

    def signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self.child.send_signal(number)

    def kill_group(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def last_lines(self, number: int = 15) -> list[str]:
        return self.log.read_text(errors="replace").splitlines()[-number:]


def stop(
    processes: Sequence[Process],
    pause: Callable[[], None] = lambda: time.sleep(0.02),
    ended: Callable[[Process], None] = lambda _process: None,
) -> list[str]:
    """Stops the processes and kills what does not stop in time; returns the names of those.

    `pause` is called while waiting, `ended` for each that has ended. A second signal to this process ends the
    waiting.
    """
    started_at = time.monotonic()
    for process in processes:
        if not process.has_ended():
            process.signal(process.stop_signal)
    waiting = list(processes)
    while waiting:
        for process in [process for process in waiting if process.has_ended()]:
            waiting.remove(process)
            process.kill_group()
            ended(process)
        elapsed = time.monotonic() - started_at
        for process in waiting:
            if not process.killed and (elapsed > process.stop_seconds or is_stop_repeated()):
                process.kill_group()
                process.killed = True
        if all(process.killed and elapsed > process.stop_seconds + KILL_SECONDS for process in waiting):
            break  # all have ended, or the kernel cannot end them, for a broken disk or the like
        pause()
    for process in waiting:
        process.kill_group()
    return [process.name for process in processes if process.killed]


def prepare(parent: int, death_signal: signal.Signals) -> None:
    """Called in a new process: it ends with its parent, and no signal that stops it is ignored, as those
    are that nohup, or a shell which starts something in the background, has ignored for us.
    """
    reset_signals()
    linux.die_with_parent(parent, death_signal)


def reset_signals(keep: Sequence[signal.Signals] = ()) -> None:
    for number in {*STOP_SIGNALS, signal.SIGQUIT} - set(keep):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {*STOP_SIGNALS, signal.SIGQUIT})


def listen_for_signals() -> None:
    for number in STOP_SIGNALS:
        if number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN:
            continue  # started by nohup
        signal.signal(number, _note)


def _note(number: int, _frame: FrameType | None) -> None:
    now = time.monotonic()
    if not _received or now - _received[-1][1] > SAME_REQUEST_SECONDS:
        _received.append((number, now))


def raise_if_interrupted() -> None:
    if _received:
        raise Interrupted(signal.Signals(_received[0][0]).name)


def is_stop_repeated() -> bool:
    return len(_received) > 1


def wait_until(condition: Callable[[], bool], *, seconds: float = float("inf"), pause: float = 0.02) -> bool:
    """Whether the condition became true in time. Raises Interrupted on a signal."""
    deadline = time.monotonic() + seconds
    while not condition():
        raise_if_interrupted()
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True
