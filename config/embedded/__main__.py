"""Runs a command beside servers of its own: `python -m config.embedded run -- pytest`.

What DATABASE_URL or REDIS_URL names already is used as it is. The servers live in a new temporary
folder and on free ports, so this disturbs no system that is running, and go when the command ends.
They don't wait for the disk, as nobody will miss the data; with --durable they do, as `make up` does.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from config.embedded import CannotStart, Servers, child, interruption, kernel
from config.embedded.child import Child
from config.embedded.home import Home, open_home
from config.embedded.interruption import Interrupted
from config.embedded.ledger import Ledger

DURABLE = "--durable"
USAGE = f"usage: python -m config.embedded run [{DURABLE}] -- command [argument ...]"
PATIENCE = 30.0
NOTE = "DURE_EMBEDDED_VARIABLES"


def main(arguments: Sequence[str]) -> int:
    options, command = _split(arguments)
    if options not in (["run"], ["run", DURABLE]) or not command:
        print(USAGE, file=sys.stderr)
        return 2
    interruption.listen()
    try:
        return run(command, durable=DURABLE in options)
    except CannotStart as reason:
        print(f"Cannot start: {reason}", file=sys.stderr)
        return 1
    except Interrupted:
        return 130


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """At the first `--`."""
    where = list(arguments).index("--") if "--" in arguments else len(arguments)
    return list(arguments[:where]), list(arguments[where + 1 :])


def run(command: Sequence[str], *, durable: bool) -> int:
    with tempfile.TemporaryDirectory(prefix="dure-") as temporary:
        if os.geteuid() == 0:
            Path(temporary).chmod(0o711)
        home = open_home(Path(temporary) / "home")
        ledger = Ledger(home)
        children: list[Child] = []
        try:
            servers = _start_missing(home, ledger, children, durable=durable)
            home.publish(servers)
            return _run_in_front(command, _environment(home, servers))
        finally:
            child.stop(children)
            ledger.close()
            home.close()


def _start_missing(home: Home, ledger: Ledger, children: list[Child], *, durable: bool) -> Servers:
    database, redis = "", ""
    if not os.environ.get("DATABASE_URL"):
        from config.embedded import postgres

        server, database = postgres.start(home, ledger, durable=durable)
        children.append(server)
    if not os.environ.get("REDIS_URL"):
        from config.embedded import valkey

        server, redis = valkey.start(home, ledger)
        children.append(server)
    return Servers(database, redis)


def _environment(home: Home, servers: Servers) -> dict[str, str]:
    ours = {"DATABASE_URL": servers.database, "REDIS_URL": servers.redis}
    named = {name: url for name, url in ours.items() if url}
    # So that a command that starts a whole system can tell what the caller named from what we did.
    note = {NOTE: " ".join(named)}
    return {"DURE_ENV": "test", **os.environ, "DURE_HOME": str(home.path), **named, **note}


def _run_in_front(command: Sequence[str], environment: dict[str, str]) -> int:
    """In our own process group, so that it keeps the terminal and Ctrl-C reaches it as well."""
    us = os.getpid()
    process = subprocess.Popen(
        command,
        env=environment,
        preexec_fn=lambda: kernel.die_with_parent(us, signal.SIGTERM),  # noqa: PLW1509
    )
    try:
        interruption.wait_until(lambda: process.poll() is not None, seconds=float("inf"))
    except Interrupted:
        process.terminate()
        _wait_or_kill(process)
    code = process.wait()
    return code if code >= 0 else 128 - code  # as a shell tells of a signal


def _wait_or_kill(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
