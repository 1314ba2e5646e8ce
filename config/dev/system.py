"""The servers and programs of a home: starts them, shows their output, and stops them."""

import os
import re
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from config.dev import CannotStart, Servers, credentials, readiness, running_servers
from config.dev import options as preflight
from config.dev.forks import ForkedProgram, ForkServers
from config.dev.home import Home
from config.dev.options import CHECKOUT, Options
from config.dev.process import Command, Process, Startable, raise_if_interrupted, stop, wait_until
from config.dev.procfile import Program
from config.dev.screen import Screen, Steps, summary

DEMO = Program("demo", "python manage.py demo")
ADMIN = Program("demo", "python manage.py demo --admin-only")
READY_SECONDS = 60.0
TICK_SECONDS = 0.05
# Longer than a worker drains (DURE_DRAIN_SECONDS) and releases its runs.
STOP_SECONDS = 14.0
# `make dev` starts workers again soon: what runs then is handed back.
RELOAD = {"DURE_DRAIN_SECONDS": "0.5", "DURE_POLL_SECONDS": "0.1"}
ERROR_LINE = re.compile(r"^[\w.]*(Error|Exception|Configured): ")


class Ended(Exception):
    """A process ended unexpectedly; the others cannot work without it."""

    def __init__(self, process: Process) -> None:
        super().__init__(process.name)
        self.process = process


class System:
    """The servers and programs of a home. Programs are forked from a process that has imported the code."""

    def __init__(self, home: Home, options: Options, programs: list[Program]) -> None:
        self.home = home
        self.options = options
        self.programs = programs
        self.servers: list[Process] = []
        self.processes: list[Process] = []
        self.screen = Screen([program.name for program in programs])
        self.environment: dict[str, str] = {}
        self.fork_servers: ForkServers | None = None

    def start(self, release: Program | None) -> None:
        steps = Steps()
        secrets = credentials.load(self.home.path, os.environ)
        urls = self._start_servers(steps)
        environment = self.environment = self._environment(urls) | secrets.environment()
        self._import_code()
        with steps.step("Migrations"):
            if release:
                self._finish(*self._begin(release, environment))
        # The programs need some seconds to start, while the demo data is created.
        demo_command = self._begin(
            DEMO if self.options.has_demo else ADMIN, environment | secrets.demo_environment()
        )
        self._start_programs(self.programs)
        title = "Demo data" if self.options.has_demo else "The user admin"
        with steps.step(title, shows_output=self.options.shows_logs):
            demo = credentials.read_demo(self._finish(*demo_command))
        with steps.step("Processes", shows_output=self.options.shows_logs) as details:
            details.append(", ".join(program.name for program in self.programs))
            self._wait_until_ready(urls.redis)
        published = credentials.publish(self.home, self.options, urls.redis, secrets, demo)
        print(summary(published, self.home), flush=True)

    def start_beside(self) -> None:
        """Start the programs with the servers of the system that runs in DURE_HOME."""
        running = credentials.read_published(self.options.home)
        if running is None:
            raise CannotStart(f"The system in {self.options.home} is not ready yet: wait for it.")
        servers = running_servers(self.options.home) or Servers()
        urls = Servers(servers.database or self.options.database_url, running["redis_url"])
        self._start_own(urls, f"Running beside Dure at {running['base_url']}")

    def start_for_another(self) -> None:
        """Start the programs for a Dure that runs elsewhere."""
        urls = Servers(self.options.database_url, self.options.redis_url)
        self._start_own(urls, f"Running with the Redis at {address(urls.redis)}")

    def _start_own(self, urls: Servers, where: str) -> None:
        secrets = credentials.load(self.options.home, os.environ)
        self.environment = self._environment(urls) | secrets.environment()
        self._import_code()
        self._start_programs(self.programs)
        self._wait_until_ready(urls.redis)
        names = ", ".join(program.name for program in self.programs)
        print(f"{where}: {names}. Ctrl-C stops {'it' if len(self.programs) == 1 else 'them'}.", flush=True)

    def watch(self) -> None:
        """Shows the output until a process ends or a signal arrives."""
        while True:
            raise_if_interrupted()
            self._tick()
            time.sleep(TICK_SECONDS)

    def _import_code(self) -> None:
        """Called once the environment of the programs is known. A single worker imports the code itself."""
        if len([program for program in self.programs if program.node]) > 1:
            self._start_fork_servers()

    def _start_fork_servers(self) -> None:
        if self.fork_servers is None:
            self.fork_servers = ForkServers(self.home, self.environment)
        else:
            self.fork_servers.replace()
        if self.options.shows_logs:  # what modules print when they are imported
            self.screen.follow(self.fork_servers.current.process)

    def _startable(self, program: Program) -> Startable:
        if self.fork_servers:
            fork_server = self.fork_servers.current
            wait_until(fork_server.has_answered, pause=0.005)
            if fork_server.can_start(program):
                return ForkedProgram(fork_server, program)
        return Command(arguments=program.arguments, env=self.environment, cwd=CHECKOUT)

    def _start_programs(self, programs: list[Program]) -> None:
        for program in programs:
            startable = self._startable(program)
            process = Process(self.home, program.name, startable, stop_seconds=STOP_SECONDS)
            self.processes.append(process)
            if self.options.shows_logs:
                self.screen.follow(process)

    def stop(self) -> list[str]:
        """Stops the programs, then their servers; returns the names of what had to be killed."""
        killed = stop(self.processes, self._show_and_sleep)
        self.screen.show()
        if self.fork_servers:
            self.fork_servers.close()
        for server in reversed(self.servers):
            killed += stop([server])
        self.home.close()
        return killed

    def _start_servers(self, steps: Steps) -> Servers:
        database_url, redis_url = self.options.database_url, self.options.redis_url
        with steps.step("PostgreSQL") as details:
            details.append("DATABASE_URL" if database_url else "embedded")
            if database_url:
                preflight.check_postgres(database_url)
            else:
                from config.dev.postgres import PostgreSQL

                server, database_url = PostgreSQL(self.home).start()
                self.servers.append(server)
                self.home.publish(Servers(database=database_url))
        with steps.step("Redis") as details:
            details.append("REDIS_URL" if redis_url else "embedded (Valkey)")
            if redis_url:
                preflight.check_redis(redis_url)
            else:
                from config.dev import redis

                server, redis_url = redis.start(self.home)
                self.servers.append(server)
                self.home.publish(Servers(self.home.servers.database, redis_url))
        return Servers(database_url, redis_url)

    def _environment(self, urls: Servers) -> dict[str, str]:
        """The variables of the programs.

        PYTHONUNBUFFERED: logs show lines at once. REMAP_SIGTERM: a worker that is stopped waits
        DURE_DRAIN_SECONDS for its runs, then releases them.
        """
        return {
            "REMAP_SIGTERM": "SIGQUIT",
            **(RELOAD if self.options.reloads else {}),
            **os.environ,
            "PATH": f"{Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "PYTHONUNBUFFERED": "1",
            **({"PYTHONPATH": path} if (path := self.options.python_path) else {}),
            "DURE_HOME": str(self.options.home),
            "HOST": self.options.host,
            "PORT": str(self.options.port),
            "FLOWER_PORT": str(self.options.flower_port),
            "DATABASE_URL": urls.database,
            "REDIS_URL": urls.redis,
        }

    def _begin(self, program: Program, environment: Mapping[str, str]) -> tuple[Process, IO[bytes]]:
        """Start a program that ends without a signal, with its standard output in a file."""
        (self.home.logs / f"{program.name}.log").unlink(missing_ok=True)
        output = tempfile.TemporaryFile()  # noqa: SIM115 - closed by _finish
        command = Command(arguments=program.arguments, env=environment, cwd=CHECKOUT, stdout=output)
        process = Process(self.home, program.name, command, stop_seconds=STOP_SECONDS)
        self.processes.append(process)
        return process, output

    def _finish(self, process: Process, output: IO[bytes]) -> str:
        """Waits until the program ends, and returns its standard output."""

        def has_ended() -> bool:
            self.screen.show()
            return process.has_ended()

        wait_until(has_ended)
        self.processes.remove(process)
        with output:
            output.seek(0)
            text = output.read().decode(errors="replace")
        if process.returncode != 0:
            lines = [line.strip() for line in process.last_lines(1000) if line.strip()]
            errors = [line for line in lines if ERROR_LINE.match(line)]
            reason = (errors or lines or [f"exit code {process.returncode}"])[-1]
            raise CannotStart(f"{process.name} failed: {reason} (more in {process.log})")
        return text

    def _wait_until_ready(self, redis_url: str) -> None:
        waiting = readiness.checks(self.programs, self.options, redis_url)
        reasons: dict[str, str] = {}

        def are_ready() -> bool:
            self._tick()
            reasons.update({name: check() for name, check in waiting.items() if reasons.get(name) != ""})
            return not any(reasons.values())

        if not wait_until(are_ready, seconds=READY_SECONDS, pause=TICK_SECONDS):
            missing = "; ".join(f"{name}: {reason}" for name, reason in reasons.items() if reason)
            raise CannotStart(f"Not ready after {READY_SECONDS:.0f} s. {missing}")

    def _tick(self) -> None:
        self.screen.show()
        for process in [*self.processes, *self.servers]:
            if process.has_ended():
                self.screen.show()
                raise Ended(process)

    def _show_and_sleep(self) -> None:
        self.screen.show()
        time.sleep(0.02)


def address(url: str) -> str:
    """The URL without its password."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or url
