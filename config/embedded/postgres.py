"""The embedded PostgreSQL: makes its data folder once, then starts it on a Unix socket."""

import os
import shutil
import signal
import socket
import tempfile
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import psycopg2

from config.embedded import CannotStart, binaries, child, interruption
from config.embedded import cluster as clusters
from config.embedded.child import Child, Farewell, ended_on_failure
from config.embedded.cluster import DATABASE, USER, Cluster
from config.embedded.home import Home
from config.embedded.ledger import Ledger
from config.embedded.ports import free_port

# A socket's path must fit into 104 bytes on macOS and 108 on Linux; its name takes a part.
SOCKET_FOLDER_BYTES = 100 - len("/.s.PGSQL.5432")
START_SECONDS = 60.0

# INT is PostgreSQL's fast shutdown: clients are cut, nothing is lost. QUIT stops at once and
# repairs itself at the next start.
FAREWELL = Farewell(
    steps=((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0)),
    on_our_death=signal.SIGINT,
)
SETTINGS = {
    "max_connections": "200",
    "shared_buffers": "128MB",
    "max_wal_size": "512MB",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] ",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


def start(home: Home, ledger: Ledger, *, durable: bool = True) -> tuple[Child, str]:
    """Starts it, waits until it answers, and says at which URL."""
    cluster = clusters.of(home)
    if not cluster.data.exists():
        clusters.create(cluster, durable=durable)
    clusters.check(cluster.data)
    clusters.drop_stale_pid(cluster.data)
    password = cluster.password_file.read_text().strip()
    arguments, url = _address(cluster, home, ledger, password)
    settings = SETTINGS | {"fsync": "on" if durable else "off"}
    arguments += [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    log = home.logs / "postgres.log"
    with log.open("ab") as output:
        server = child.start(
            "postgres",
            [binaries.postgres("postgres"), "-D", cluster.data, *arguments],
            output=output,
            env=clusters.environment(),
            cwd=Path("/"),
            account=cluster.account,
            farewell=FAREWELL,
        )
    with ended_on_failure(server):
        ledger.add(server)
        _wait_until_it_answers(server, url, log)
    return server, url


def _address(cluster: Cluster, home: Home, ledger: Ledger, password: str) -> tuple[list[str], str]:
    """The arguments that say where to listen, and the URL that leads there."""
    login = f"{USER}:{quote(password, safe='')}"
    folder = _socket_folder(cluster, home, ledger)
    if folder is None:
        port = free_port()
        arguments = ["-c", "listen_addresses=127.0.0.1", "-c", f"port={port}", "-k", ""]
        return arguments, f"postgresql://{login}@127.0.0.1:{port}/{DATABASE}"
    quoted = '"' + str(folder).replace('"', '""') + '"'
    arguments = ["-c", "listen_addresses=", "-c", "port=5432", "-k", quoted]
    return arguments, f"postgresql://{login}@/{DATABASE}?host={quote(str(folder), safe='')}"


def _socket_folder(cluster: Cluster, home: Home, ledger: Ledger) -> Path | None:
    """Below the home when its path is short enough, else a private folder where temporary ones go."""
    folder = home.path / "run"
    if _fits(folder):
        shutil.rmtree(folder, ignore_errors=True)  # sockets of a run that was killed
        if _holds_sockets(cluster.own(folder)):
            return folder
    folder = Path(tempfile.mkdtemp(prefix="dure-"))
    ledger.add_folder(folder)
    return folder if _fits(folder) and _holds_sockets(cluster.own(folder)) else None


def _fits(folder: Path) -> bool:
    """Clients take a comma for the start of the next host's name."""
    return len(os.fsencode(folder)) <= SOCKET_FOLDER_BYTES and "," not in str(folder)


def _holds_sockets(folder: Path) -> bool:
    """Some shared and network file systems have no sockets."""
    probe = folder / "probe"
    try:
        with closing(socket.socket(socket.AF_UNIX)) as unix:
            unix.bind(str(probe))
    except OSError:
        return False
    probe.unlink()
    return True


def _wait_until_it_answers(server: Child, url: str, log: Path) -> None:
    why = ""

    def answers() -> bool:
        nonlocal why
        if server.has_ended():
            return True
        try:
            psycopg2.connect(url, connect_timeout=3).close()
        except psycopg2.OperationalError as error:
            why = str(error).strip()
            return False
        return True

    in_time = interruption.wait_until(answers, seconds=START_SECONDS)
    if server.has_ended():
        said = log.read_text(errors="replace")[-10_000:]
        raise CannotStart(f"PostgreSQL did not start: {clusters.last_complaint(said)} (more in {log})")
    if not in_time:
        raise CannotStart(f"PostgreSQL did not answer within {START_SECONDS:.0f} s: {why} (see {log})")
