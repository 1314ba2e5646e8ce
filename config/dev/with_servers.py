"""Runs a command with a PostgreSQL and a Redis of its own: `python -m config.dev.with_servers -- pytest`.

It uses the servers that DATABASE_URL and REDIS_URL name, where they do. Its own servers live in a temporary
folder and on free ports until the command ends. They do not wait for the disk, except with --durable.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from config.dev import CannotStart, Servers, process
from config.dev.home import Home, open_home
from config.dev.process import Interrupted, Process
from jobs.subprocesses import linux

DURABLE = "--durable"
USAGE = f"usage: python -m config.dev.with_servers [{DURABLE}] -- command [argument ...]"
STOP_SECONDS = 30.0
# Names the variables that this module has set, for commands that start a whole system.
EMBEDDED_VARIABLES = "DURE_EMBEDDED_VARIABLES"


def main(arguments: Sequence[str]) -> int:
    separator = list(arguments).index("--") if "--" in arguments else len(arguments)
    options, command = list(arguments[:separator]), list(arguments[separator + 1 :])
    if options not in ([], [DURABLE]) or not command:
        print(USAGE, file=sys.stderr)
        return 2
    process.listen_for_signals()
    try:
        return run(command, durable=DURABLE in options)
    except CannotStart as reason:
        print(f"Cannot start: {reason}", file=sys.stderr)
        return 1
    except Interrupted:
        return 130


def run(command: Sequence[str], *, durable: bool) -> int:
    with tempfile.TemporaryDirectory(prefix="dure-") as folder:
        if os.geteuid() == 0:
            Path(folder).chmod(0o711)
        home = open_home(Path(folder) / "home")
        processes: list[Process] = []
        try:
            home.publish(_start_servers(home, processes, durable=durable))
            return _run_in_foreground(command, _environment(home))
        finally:
            process.stop(processes)
            home.close()


def _start_servers(home: Home, processes: list[Process], *, durable: bool) -> Servers:
    database_url, redis_url = "", ""
    if not os.environ.get("DATABASE_URL"):
        from config.dev.postgres import PostgreSQL

        server, database_url = PostgreSQL(home, durable=durable).start()
        processes.append(server)
    if not os.environ.get("REDIS_URL"):
        from config.dev import redis

        server, redis_url = redis.start(home)
        processes.append(server)
    return Servers(database_url, redis_url)


def _environment(home: Home) -> dict[str, str]:
    urls = {"DATABASE_URL": home.servers.database, "REDIS_URL": home.servers.redis}
    embedded = {name: url for name, url in urls.items() if url}
    embedded[EMBEDDED_VARIABLES] = " ".join(embedded)
    return {"DURE_ENV": "test", **os.environ, "DURE_HOME": str(home.path), **embedded}


def _run_in_foreground(command: Sequence[str], environment: dict[str, str]) -> int:
    """Run the command in our own process group, so that it keeps the terminal and receives Ctrl-C."""
    runner = os.getpid()
    child = subprocess.Popen(
        command,
        env=environment,
        preexec_fn=lambda: _prepare(runner),  # noqa: PLW1509
    )
    try:
        process.wait_until(lambda: child.poll() is not None)
    except Interrupted:
        child.terminate()
        try:
            child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
    code = child.wait()
    return code if code >= 0 else 128 - code  # as a shell does for a signal


def _prepare(runner: int) -> None:
    """As `process.prepare`, except that nohup's SIGHUP, which comes from the terminal, stays ignored."""
    started_by_nohup = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    process.reset_signals(keep=[signal.SIGHUP] if started_by_nohup else [])
    linux.die_with_parent(runner, signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
