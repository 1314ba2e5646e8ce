"""Starts a program in a session of its own, tied to our life, and ends it with all it has started."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from config.embedded import interruption, kernel
from config.embedded.account import Account

KILL_PATIENCE = 5.0


@dataclass(frozen=True)
class Farewell:
    """What to send a child that shall end, in turn, and how long each has until the next."""

    steps: tuple[tuple[signal.Signals, float], ...] = ((signal.SIGTERM, 15.0),)
    # What the kernel sends it when we die without a word.
    on_our_death: signal.Signals = signal.SIGKILL

    @property
    def patience(self) -> float:
        return sum(seconds for _, seconds in self.steps)


@dataclass
class Child:
    name: str
    process: subprocess.Popen[bytes]
    farewell: Farewell
    asked: int = 0
    killed: bool = False

    @property
    def pid(self) -> int:
        return self.process.pid

    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self.process.send_signal(number)

    def urge(self, elapsed: float, *, at_once: bool) -> None:
        """Sends what is due so long after the stop began; the last resort when nothing else is left."""
        due = 0.0
        for number, (step, patience) in enumerate(self.farewell.steps):
            if number == self.asked and elapsed >= due and not at_once:
                self.signal(step)
                self.asked += 1
            due += patience
        if not self.killed and (elapsed >= due or at_once):
            self.kill_group()
            self.killed = True

    def kill_group(self) -> None:
        """The program and whatever it left in its group."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


def start(
    name: str,
    command: Sequence[str | Path],
    *,
    output: int | IO[bytes],
    errors: int | IO[bytes] = subprocess.STDOUT,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    account: Account | None = None,
    farewell: Farewell | None = None,
) -> Child:
    """Must be called by the main thread: the kernel ties a child to the thread that made it."""
    manner = farewell or Farewell()
    us = os.getpid()

    def prepare() -> None:
        if account:
            account.become()
        # After the change of user, which would undo it.
        kernel.die_with_parent(us, manner.on_our_death)

    process = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        env=dict(env) if env is not None else None,
        cwd=cwd,
        start_new_session=True,
        preexec_fn=prepare,  # noqa: PLW1509
    )
    return Child(name, process, manner)


@contextmanager
def ended_on_failure(started: Child) -> Iterator[None]:
    """Until it is handed to whoever ends it in the end, nobody else would."""
    try:
        yield
    except BaseException:
        stop([started])
        raise


def stop(children: Sequence[Child], pause: Callable[[float], None] = time.sleep) -> list[str]:
    """Ends these children, all at once, each by its farewell; names those that had to be killed.

    `pause` is called while we wait, so a runner can go on reading what they say.
    """
    began = time.monotonic()
    while waiting := [child for child in children if not child.has_ended()]:
        elapsed = time.monotonic() - began
        for child in waiting:
            child.urge(elapsed, at_once=interruption.is_impatient())
        if all(child.killed for child in waiting) and elapsed > waiting[0].farewell.patience + KILL_PATIENCE:
            break  # the kernel itself holds it, in a dead disk or the like
        pause(0.02)
    for child in children:
        child.kill_group()
    return [child.name for child in children if child.killed]
