"""The embedded Redis, which is Valkey: append-only file on, one address, a password."""

import secrets
import signal
from pathlib import Path
from urllib.parse import quote

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from config.embedded import CannotStart, binaries, child, interruption, private
from config.embedded.child import Child, Farewell, ended_on_failure
from config.embedded.home import Home, read_json
from config.embedded.ledger import Ledger
from config.embedded.ports import LOOPBACK, free_port, problem

START_SECONDS = 60.0
FAREWELL = Farewell(steps=((signal.SIGTERM, 15.0),), on_our_death=signal.SIGTERM)


def start(home: Home, ledger: Ledger) -> tuple[Child, str]:
    """Starts it, waits until it answers, and says at which URL."""
    folder = home.path / "valkey"
    folder.mkdir(mode=0o700, exist_ok=True)
    password, port = _password_and_port(folder)
    configuration = folder / "valkey.conf"
    private.write(configuration, _configuration(folder, password, port))
    log = home.logs / "redis.log"
    with log.open("ab") as output:
        server = child.start(
            "redis", [binaries.valkey(), configuration], output=output, cwd=folder, farewell=FAREWELL
        )
    url = f"redis://:{quote(password, safe='')}@{LOOPBACK}:{port}/0"
    with ended_on_failure(server):
        ledger.add(server)
        _wait_until_it_answers(server, url, log)
    return server, url


def _password_and_port(folder: Path) -> tuple[str, int]:
    """Both are kept, so that what was told the URL once finds it again after a new start."""
    address = folder / "address.json"
    kept = read_json(address)
    if isinstance(kept, dict):
        password, port = str(kept["password"]), int(kept["port"])
        if not problem(port):
            return password, port
    else:
        password = secrets.token_urlsafe(24)
    port = free_port()
    private.write_json(address, {"password": password, "port": port})
    return password, port


def _configuration(folder: Path, password: str, port: int) -> str:
    return "\n".join(
        (
            f"bind {LOOPBACK}",
            f"port {port}",
            "protected-mode yes",
            f"requirepass {password}",
            f"dir {quoted(str(folder))}",
            "daemonize no",
            # Its command line must go on naming this file: that is how it is recognised as ours.
            "set-proc-title no",
            'save ""',
            "appendonly yes",
            "appendfsync everysec",
            # A full queue must be an error to the one who fills it, never a message dropped in silence.
            "maxmemory-policy noeviction",
            "",
        )
    )


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _wait_until_it_answers(server: Child, url: str, log: Path) -> None:
    client = redis.Redis.from_url(url, socket_timeout=2, retry=Retry(NoBackoff(), 0))
    why = ""

    def answers() -> bool:
        nonlocal why
        if server.has_ended():
            return True
        try:
            client.ping()
        except redis.RedisError as error:
            why = str(error)
            return False
        return True

    in_time = interruption.wait_until(answers, seconds=START_SECONDS)
    client.close()
    if server.has_ended():
        lines = log.read_text(errors="replace").splitlines() or ["it said nothing"]
        raise CannotStart(f"Redis did not start: {lines[-1].strip()} (more in {log})")
    if not in_time:
        raise CannotStart(f"Redis did not answer within {START_SECONDS:.0f} s: {why} (see {log})")
