"""The embedded PostgreSQL: makes its data folder once, then starts it on a Unix socket."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg2

from config.embedded import CannotStart, binaries, child, identity, interruption, private
from config.embedded.account import Account, unprivileged
from config.embedded.child import Child, Farewell, ended_on_failure
from config.embedded.home import Home
from config.embedded.ledger import Ledger
from config.embedded.ports import free_port

USER = DATABASE = "dure"
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


@dataclass(frozen=True)
class Cluster:
    """Where one PostgreSQL keeps its data, and as whom it runs."""

    folder: Path
    account: Account | None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def password_file(self) -> Path:
        return self.folder / "password"

    def own(self, path: Path) -> Path:
        path.mkdir(mode=0o700, exist_ok=True)
        if self.account:
            os.chown(path, self.account.uid, self.account.gid)
        return path


def version() -> str:
    answer = subprocess.run(  # noqa: S603
        [binaries.postgres("postgres"), "--version"], capture_output=True, text=True, check=True
    )
    return answer.stdout.split()[2]


def start(home: Home, ledger: Ledger, *, durable: bool = True) -> tuple[Child, str]:
    """Starts it, waits until it answers, and says at which URL."""
    cluster = _cluster(home)
    if not cluster.data.exists():
        _create(cluster, durable=durable)
    _check_data(cluster.data)
    _drop_stale_pid(cluster.data)
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
            env=_environment(),
            cwd=Path("/"),
            account=cluster.account,
            farewell=FAREWELL,
        )
    with ended_on_failure(server):
        ledger.add(server)
        _wait_until_it_answers(server, url, log)
    return server, url


def _cluster(home: Home) -> Cluster:
    folder = home.path / "postgres"
    # A file in the home stands for it: to see the home itself takes less than to enter it.
    account = unprivileged(folder, (Path(home.lock.name), binaries.postgres("postgres")))
    cluster = Cluster(folder, account)
    try:
        cluster.own(folder)
        next(folder.iterdir(), None)
    except PermissionError:
        raise CannotStart(
            f"{folder} belongs to another user: run as that user, or set DURE_HOME to another folder."
        ) from None
    return cluster


def _environment() -> dict[str, str]:
    # PG… variables of the caller's would change what the programs do; a fixed locale what they say.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return kept | {"LC_ALL": "C", "LANG": "C"}


def _create(cluster: Cluster, *, durable: bool) -> None:
    """Makes the data folder beside its place and moves it there when whole: a crash leaves no half of it."""
    fresh = cluster.folder / "data.new"
    shutil.rmtree(fresh, ignore_errors=True)
    password = secrets.token_urlsafe(24)
    private.write(cluster.password_file, password + "\n")
    # The superuser is for repairs by hand. The application's role owns its database and no more, so
    # that SQL cannot read the machine's files.
    superuser = secrets.token_urlsafe(24)
    private.write(cluster.folder / "superuser-password", superuser + "\n")
    if cluster.account:
        os.chown(cluster.folder / "superuser-password", cluster.account.uid, cluster.account.gid)
    _run(
        cluster,
        [
            binaries.postgres("initdb"),
            f"--pgdata={fresh}",
            "--username=postgres",
            f"--pwfile={cluster.folder / 'superuser-password'}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--locale=C",
            "--builtin-locale=C.UTF-8",
            *([] if durable else ["--no-sync"]),
        ],
    )
    _run(
        cluster,
        [binaries.postgres("postgres"), "--single", "-D", fresh, "postgres"],
        f"CREATE ROLE {USER} LOGIN CREATEDB PASSWORD '{password}'\nCREATE DATABASE {DATABASE} OWNER {USER}\n",
    )
    fresh.rename(cluster.data)


def _run(cluster: Cluster, command: list[str | Path], stdin: str = "") -> None:
    done = subprocess.run(  # noqa: S603
        [str(part) for part in command],
        input=stdin,
        capture_output=True,
        text=True,
        env=_environment(),
        cwd="/",
        preexec_fn=cluster.account.become if cluster.account else None,
        check=False,
    )
    if done.returncode != 0 or "FATAL" in done.stderr or "ERROR" in done.stderr:
        raise CannotStart(f"PostgreSQL's data folder could not be made: {_last_complaint(done.stderr)}")


def _last_complaint(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    loud = [line for line in lines if any(word in line for word in ("FATAL", "PANIC", "ERROR", "error:"))]
    return (loud or lines or ["it said nothing"])[-1]


def _check_data(data: Path) -> None:
    try:
        major = (data / "PG_VERSION").read_text().strip()
    except OSError as error:
        raise CannotStart(f"{data} holds no PostgreSQL data ({error.strerror}): remove it.") from None
    if major != str(binaries.POSTGRES_MAJOR):
        raise CannotStart(
            f"{data} was made by PostgreSQL {major} and this is {binaries.POSTGRES_MAJOR}: "
            "set DURE_HOME to another folder, or move the data by pg_dump."
        )


def _drop_stale_pid(data: Path) -> None:
    """PostgreSQL forgives a lock file whose process is gone, but not one whose number lives on.

    After a reboot, or in a container, that number soon belongs to somebody else. Our lock of the
    home says that no other start is under way, and the ledger has ended what we had left.
    """
    lock = data / "postmaster.pid"
    try:
        pid = int(lock.read_text().splitlines()[0])
    except (FileNotFoundError, ValueError, IndexError):
        return
    if identity.exists(pid) and str(data) not in identity.command_line(pid):
        lock.unlink()


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
        raise CannotStart(f"PostgreSQL did not start: {_last_complaint(said)} (more in {log})")
    if not in_time:
        raise CannotStart(f"PostgreSQL did not answer within {START_SECONDS:.0f} s: {why} (see {log})")
