"""Real Celery workers for tests, benches and chaos runs, started as users start them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from django.db import connection

from config.dev.process import ChildProcess
from tests.fork_servers import fork_servers
from tests.unit import process_tools
from tests.unit.process_tools import PATIENCE

ROOT = Path(__file__).resolve().parent.parent
# The last one is known to these workers alone.
ROLES = "PO,Architect,FE,BE,QA,DevOps,export,default,Designer"
QUICK = {
    "DURE_LEASE_SECONDS": "4",  # long enough for a machine that is busy with other things
    "DURE_HEARTBEAT_SECONDS": "0.5",
    "DURE_GRACE_SECONDS": "1",
    "DURE_SWEEP_SECONDS": "0.5",
    "DURE_REPUBLISH_SECONDS": "1",
    "DURE_DRAIN_SECONDS": "2",
}
START_SECONDS = 90.0


def database_url() -> str:
    """The URL of this process's database, for other processes."""
    settings = connection.settings_dict
    user = quote(str(settings["USER"]), safe="")
    password = quote(str(settings["PASSWORD"]), safe="")
    host = str(settings["HOST"])
    login = f"{user}:{password}@" if password else f"{user}@"
    if host.startswith("/") or "," in host:
        query = {"host": host, "port": settings["PORT"]}
        query["target_session_attrs"] = settings["OPTIONS"].get("target_session_attrs")
        pairs = [f"{name}={quote(str(value), safe='')}" for name, value in query.items() if value]
        return f"postgresql://{login}/{settings['NAME']}?{'&'.join(pairs)}"
    return f"postgresql://{login}{host}:{settings['PORT'] or 5432}/{settings['NAME']}"


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    # Another in each test, it would keep a process from being forked from that of an earlier test.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return {
        **inherited,
        "DATABASE_URL": database_url(),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PYTHONPATH": str(ROOT),
        **QUICK,
        **(extra or {}),
    }


class Process:
    """A process that a test started, with its descendants. What runs Python runs Django."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], log: Path) -> None:
        self.log = log
        log.touch()
        forked = fork_servers().start(argv[1:], env, log) if argv[0] == sys.executable else None
        self.child: ChildProcess = forked or execute(argv, env, log)

    @property
    def pid(self) -> int:
        return self.child.pid

    def poll(self) -> int | None:
        """The exit status, if the process has ended."""
        return self.child.poll()

    def wait(self, patience: float = PATIENCE) -> int:
        """Waits for the end, and returns the exit status."""
        eventually(lambda: self.poll() is not None, patience, what=f"the end of the process of {self.log}")
        return cast(int, self.poll())

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            self.child.send_signal(signal.Signals(number))

    def children(self) -> list[int]:
        pids: list[int] = []
        for children in Path(f"/proc/{self.pid}/task").glob("*/children"):
            try:
                pids.extend(int(child) for child in children.read_text().split())
            except OSError:
                continue
        return pids

    def pool(self) -> list[int]:
        """The processes that run bodies: forks of a worker have its command line."""
        command = command_of(self.pid)
        return [pid for pid in self.children() if command_of(pid) == command]

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.wait()

    def stop(self, patience: float = 15.0) -> None:
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            self.wait(patience)
        except AssertionError:
            self.kill()

    def wait_for_line(self, text: str, patience: float = START_SECONDS) -> None:
        until = time.monotonic() + patience
        while time.monotonic() < until:
            if text in self.log.read_text(errors="replace"):
                return
            if self.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"no {text!r} in {self.log}:\n{self.log.read_text(errors='replace')[-3000:]}")


def execute(argv: Sequence[str], env: Mapping[str, str], log: Path) -> ChildProcess:
    with log.open("ab") as output:
        return subprocess.Popen(
            list(argv),
            env=dict(env),
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def command_of(pid: int) -> bytes:
    """Its command line; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def celery(
    *options: str, log: Path, env: Mapping[str, str] | None = None, app: str = "config", level: str = "INFO"
) -> Process:
    argv = [sys.executable, "-m", "celery", "-A", app, *options, "-l", level]
    return Process(argv, environment(env), log)


@contextmanager
def running(
    folder: Path,
    *,
    queues: str = ROLES,
    concurrency: int = 2,
    name: str = "jobs",
    env: Mapping[str, str] | None = None,
    control: bool = True,
    level: str = "INFO",
) -> Iterator[Process]:
    """A worker for these queues and one for the control queue, both ready."""
    started = [worker(folder, queues=queues, concurrency=concurrency, name=name, env=env, level=level)]
    if control:
        started.append(worker(folder, queues="control", concurrency=1, name=f"{name}-control", env=env))
    try:
        for process in started:
            process.wait_for_line(" ready.")
        yield started[0]
    finally:
        for process in started:
            process.stop()


def worker(
    folder: Path,
    *,
    queues: str,
    concurrency: int,
    name: str,
    env: Mapping[str, str] | None = None,
    level: str = "INFO",
) -> Process:
    return celery(
        "worker",
        "-Q",
        queues,
        "-n",
        f"{name}@test",
        "-c",
        str(concurrency),
        "--without-mingle",
        "--without-gossip",
        log=folder / f"{name}.log",
        env=env,
        level=level,
    )


def eventually(
    condition: Callable[..., object], patience: float = PATIENCE, pause: float = 0.0, what: str = ""
) -> Any:
    """As that of `process_tools`, but fails with `what` if the condition is never true."""
    result = process_tools.eventually(condition, patience, pause)
    assert result, f"waited {patience} s in vain for {what or condition}"
    return result
