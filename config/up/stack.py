"""All that runs together: servers, programs, and what ends them in order."""

import os
import re
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from config.embedded import CannotStart, Servers, child, interruption, kernel
from config.embedded.child import Child
from config.embedded.home import Home
from config.embedded.ledger import Ledger
from config.up import orphans
from config.up.procfile import Program
from config.up.readiness import Check
from config.up.runner import Runner

READY_SECONDS = 60.0
ERROR = re.compile(r"^[\w.]*(Error|Exception|Configured): ")


class Stack:
    def __init__(self, home: Home, programs: list[Program], checkout: Path) -> None:
        self.home = home
        self.checkout = checkout
        self.ledger = Ledger(home)
        self.servers: list[Child] = []
        self.passing: list[Child] = []
        self.runner = Runner(home, self.ledger, programs, checkout)
        kernel.adopt_orphans()

    def start_postgres(self) -> str:
        from config.embedded import postgres

        server, url = postgres.start(self.home, self.ledger)
        self.servers.append(server)
        self.home.publish(Servers(url, self.home.servers.redis))
        return url

    def start_redis(self) -> str:
        from config.embedded import valkey

        server, url = valkey.start(self.home, self.ledger)
        self.servers.append(server)
        self.home.publish(Servers(self.home.servers.database, url))
        return url

    def begin(self, program: Program, environment: Mapping[str, str]) -> "Passing":
        """Starts a program that ends by itself."""
        log = self.home.logs / f"{program.name}.log"
        output = tempfile.TemporaryFile()  # noqa: SIM115 - closed by finish, which reads it
        with log.open("wb") as errors:
            started = child.start(
                program.name,
                program.arguments,
                output=output,
                errors=errors,
                env=environment,
                cwd=self.checkout,
            )
        self.passing.append(started)
        return Passing(started, output, log)

    def finish(self, passing: "Passing") -> str:
        """Waits for its end and answers its standard output; what else it said is in its log."""

        def has_ended() -> bool:
            self.runner.pump(0)
            return passing.child.has_ended()

        interruption.wait_until(has_ended, seconds=float("inf"))
        with passing.output as output:
            output.seek(0)
            said = output.read().decode(errors="replace")
        if passing.child.process.returncode != 0:
            raise CannotStart(f"{passing.child.name} failed: {passing.complaint()} (more in {passing.log})")
        return said

    def wait_until_ready(self, checks: list[Check]) -> None:
        """Hears the programs meanwhile. Raises Ended when one ends before it was ready."""
        waiting = list(checks)

        def are_ready() -> bool:
            self.runner.pump()
            if ended := self.runner.first_ended(self.servers):
                raise Ended(ended)
            waiting[:] = [check for check in waiting if not check.is_ready()]
            return not waiting

        if not interruption.wait_until(are_ready, seconds=READY_SECONDS):
            reasons = "; ".join(f"{check.name}: {check.why_not}" for check in waiting)
            raise CannotStart(f"Not ready after {READY_SECONDS:.0f} s. {reasons}")

    def watch(self) -> None:
        raise Ended(self.runner.watch(self.servers))

    def stop(self) -> list[str]:
        """Programs first, then the servers they use, the last started first. Names who was killed."""
        killed = child.stop(self.passing) + self.runner.stop()
        orphans.end(spared=[server.pid for server in self.servers])
        for server in reversed(self.servers):
            killed += child.stop([server])
        orphans.end(spared=())
        with suppress(OSError):
            self.home.withdraw()
            self.ledger.close()
        self.home.close()
        return killed


@dataclass
class Passing:
    """A program that runs to its end beside the others."""

    child: Child
    output: IO[bytes]
    log: Path

    def complaint(self) -> str:
        """Of a traceback the line with the error, which details may follow; else what was said last."""
        lines = [line.strip() for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        errors = [line for line in lines if ERROR.match(line)]
        return (errors or lines or [f"exit code {self.child.process.returncode}"])[-1]


class Ended(Exception):
    """A process ended by itself, and the others are of no use without it."""

    def __init__(self, ended: Child) -> None:
        super().__init__(ended.name)
        self.child = ended

    @property
    def how(self) -> str:
        code = self.child.process.returncode
        return f"exit code {code}" if code >= 0 else f"signal {-code}"


def environment_for_programs(servers: Mapping[str, str], secrets: Mapping[str, str]) -> dict[str, str]:
    """What a program inherits: ours, the addresses of the servers, and the secrets; never an argument."""
    path = f"{Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    # Output into a pipe would be held back, and the log would tell of things long past. A worker that
    # is told to stop waits for its runs as long as DURE_DRAIN_SECONDS says, then hands them back.
    ours = {"PATH": path, "PYTHONUNBUFFERED": "1"}
    return {"REMAP_SIGTERM": "SIGQUIT", **os.environ, **servers, **secrets, **ours}
