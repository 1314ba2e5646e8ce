"""Starts programs by a fork of a process that has imported the code already: see fork_server.py."""

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.dev.home import Home
from config.dev.options import CHECKOUT
from config.dev.process import Command, Process, stop
from config.dev.procfile import Program

SCRIPT = CHECKOUT / "config" / "dev" / "fork_server.py"
# What the process can run, written such that the shell makes nothing but a list of arguments of it.
RUNNABLE = re.compile(r"(celery|python)\s[^;|&<>()`\n]*")
START_SECONDS = 60.0


class ForkServer:
    """The process that has one version of the code, and the programs that it has started."""

    def __init__(self, home: Home, environment: Mapping[str, str], modules: list[str]) -> None:
        """It begins with these modules: what an earlier one has imported besides the checkout's."""
        self.environment = environment
        self.connection, theirs = socket.socketpair()
        with theirs:
            command = Command(
                arguments=[sys.executable, SCRIPT, str(theirs.fileno())],
                env=environment,
                cwd=CHECKOUT,
                inherited=[theirs.fileno()],
            )
            self.process = Process(home, "fork-server", command, stop_signal=signal.SIGKILL)
        self.connection.setblocking(False)
        self.modules = modules
        self.is_loaded: bool | None = None
        # The packages of the checkout that it had imported before it was told to.
        self.prepared: list[str] | None = None
        self.started: list[int] = []
        self.living: set[int] = set()
        self.codes: dict[int, int] = {}
        self._rest = b""
        self._send(do="prepare", modules=modules)

    def load(self) -> None:
        """Begin to import the code; `is_loaded` says whether that succeeded, once it has ended."""
        self._send(do="load")

    def has_answered(self) -> bool:
        self.read()
        return self.is_loaded is not None

    def can_start(self, program: Program) -> bool:
        return self.is_loaded is True and RUNNABLE.fullmatch(program.command) is not None

    def start(self, arguments: list[str], log: Path) -> "Fork":
        self._send(do="start", arguments=arguments, log=str(log))
        deadline = time.monotonic() + START_SECONDS
        while not self.started and not self.process.has_ended() and time.monotonic() < deadline:
            select.select([self.connection], [], [], max(0.0, deadline - time.monotonic()))
            self.read()
        if not self.started:
            raise OSError(f"{arguments[0]} could not be started: see {self.process.log}")
        pid = self.started.pop()
        self.living.add(pid)
        return Fork(self, pid)

    def read(self) -> None:
        """Read what the process has answered."""
        try:
            while data := self.connection.recv(65_536):
                self._rest += data
        except (BlockingIOError, ConnectionResetError):
            pass
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            self._note(json.loads(line))
        if self.process.has_ended():
            self.is_loaded = self.is_loaded or False
            # The kernel ends the children together with it.
            self.codes |= dict.fromkeys(self.living, -signal.SIGKILL)
            self.living.clear()

    def close(self) -> None:
        """It has no programs any more, and ends."""
        self.connection.close()
        stop([self.process])

    def _note(self, answer: dict[str, Any]) -> None:
        if "prepared" in answer:
            self.prepared = answer["prepared"]
        elif "modules" in answer:
            self.is_loaded, self.modules = True, answer["modules"]
        elif "error" in answer:
            self.is_loaded = False
        elif "started" in answer:
            self.started.append(answer["started"])
        elif "ended" in answer:
            self.living.discard(answer["ended"])
            self.codes[answer["ended"]] = answer["code"]

    def _send(self, **request: Any) -> None:
        try:
            self.connection.sendall(json.dumps(request).encode() + b"\n")
        except OSError:
            self.is_loaded = False


class Fork:
    """A program that was started by a fork, as Popen presents one that was executed."""

    def __init__(self, fork_server: ForkServer, pid: int) -> None:
        self.fork_server = fork_server
        self.pid = pid

    def poll(self) -> int | None:
        self.fork_server.read()
        return self.fork_server.codes.get(self.pid)

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


@dataclass(frozen=True)
class ForkedProgram:
    """A program that a fork server starts."""

    fork_server: ForkServer
    program: Program

    def start(self, _home: Home, log: Path) -> Fork:
        return self.fork_server.start(self._arguments(), log)

    def _arguments(self) -> list[str]:
        """As the shell understands the command."""
        loop = f'for each in {self.program.command}; do printf "%s\\0" "$each"; done'
        environment = dict(self.fork_server.environment)
        done = subprocess.run(
            ["/bin/sh", "-c", loop], env=environment, cwd=CHECKOUT, capture_output=True, check=True
        )
        return done.stdout.decode().split("\0")[:-1]


class ForkServers:
    """The processes that have imported the code of now, and of before as long as a program of it runs."""

    def __init__(self, home: Home, environment: Mapping[str, str]) -> None:
        self._home = home
        self._environment = environment
        self._all: list[ForkServer] = []
        self.current = self._prepare([])
        self._next: ForkServer | None = None
        self.current.load()

    def replace(self) -> None:
        """Begin to import the code of now."""
        self.current = self._next or self._prepare(self.current.modules)
        self._next = None
        self.current.load()

    def prepare_next(self) -> None:
        """Make the next replacement quicker, when there is time."""
        if self._next is not None:
            return
        for each in [each for each in self._all if each is not self.current and not each.living]:
            each.close()
            self._all.remove(each)
        self._next = self._prepare(self.current.modules)

    def close(self) -> None:
        for each in self._all:
            each.close()

    def _prepare(self, modules: list[str]) -> ForkServer:
        fork_server = ForkServer(self._home, self._environment, modules)
        self._all.append(fork_server)
        return fork_server
