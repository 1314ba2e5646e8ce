"""PostgreSQL's data folder: made once, whole or not at all, and looked at before each start."""

import os
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from config.embedded import CannotStart, binaries, identity, private
from config.embedded.account import Account, unprivileged
from config.embedded.home import Home

USER = DATABASE = "dure"


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


def of(home: Home) -> Cluster:
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


def create(cluster: Cluster, *, durable: bool) -> None:
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
    done = subprocess.run(
        [str(part) for part in command],
        input=stdin,
        capture_output=True,
        text=True,
        env=environment(),
        cwd="/",
        preexec_fn=cluster.account.become if cluster.account else None,
        check=False,
    )
    if done.returncode != 0 or "FATAL" in done.stderr or "ERROR" in done.stderr:
        raise CannotStart(f"PostgreSQL's data folder could not be made: {last_complaint(done.stderr)}")


def check(data: Path) -> None:
    try:
        major = (data / "PG_VERSION").read_text().strip()
    except OSError as error:
        raise CannotStart(f"{data} holds no PostgreSQL data ({error.strerror}): remove it.") from None
    if major != str(binaries.POSTGRES_MAJOR):
        raise CannotStart(
            f"{data} was made by PostgreSQL {major} and this is {binaries.POSTGRES_MAJOR}: "
            "set DURE_HOME to another folder, or move the data by pg_dump."
        )


def drop_stale_pid(data: Path) -> None:
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


def environment() -> dict[str, str]:
    # PG… variables of the caller's would change what the programs do; a fixed locale what they say.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return kept | {"LC_ALL": "C", "LANG": "C"}


def last_complaint(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    loud = [line for line in lines if any(word in line for word in ("FATAL", "PANIC", "ERROR", "error:"))]
    return (loud or lines or ["it said nothing"])[-1]
