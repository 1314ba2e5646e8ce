"""DURE_HOME: the folder that holds everything a running system keeps, and one system at a time."""

import errno
import fcntl
import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from config.embedded import URLS, CannotStart, Servers, private

FREE_BYTES_NEEDED = 200 * 2**20
PROBE_BYTES = 64 * 2**10


@dataclass
class Home:
    path: Path
    lock: IO[str]
    servers: Servers = field(default=Servers("", ""))

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    def close(self) -> None:
        self.lock.close()

    def publish(self, servers: Servers) -> None:
        """Tells the settings of whoever starts next, `manage.py` in another terminal say."""
        self.servers = servers
        private.write_json(self.path / URLS, {"database": servers.database, "redis": servers.redis})

    def withdraw(self) -> None:
        (self.path / URLS).unlink(missing_ok=True)


def open_home(path: Path) -> Home:
    """Makes the folder when missing, sees that it can be used, and takes it for us alone."""
    try:
        # Others may pass through, not look: as root, PostgreSQL's own account has to reach its part.
        path.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
        lock = _lock(path)
        (path / "logs").mkdir(mode=0o700, exist_ok=True)
        _probe(path)
    except OSError as error:
        raise CannotStart(unusable(path, error)) from None
    if complaint := too_full(path, shutil.disk_usage(path).free):
        raise CannotStart(complaint)
    return Home(path, lock)


def unusable(path: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"DURE_HOME ({path}) is full: make room there, or set DURE_HOME to another folder."
    return f"DURE_HOME ({path}) cannot be written: {error.strerror}. Set DURE_HOME to a folder of yours."


def too_full(path: Path, free: int) -> str:
    if free >= FREE_BYTES_NEEDED:
        return ""
    return (
        f"DURE_HOME ({path}) is nearly full: {free // 2**20} MiB are free there and "
        f"{FREE_BYTES_NEEDED // 2**20} MiB are needed. Make room, or set DURE_HOME to another folder."
    )


def _lock(path: Path) -> IO[str]:
    """The kernel gives the lock back whatever way we end, so it can never be stale."""
    file = (path / "lock").open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read().strip() or "unknown"
        file.close()
        raise CannotStart(
            f"A system is already running in {path} (process {holder}): "
            "stop it first, or set DURE_HOME to another folder."
        ) from None
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file


def _probe(path: Path) -> None:
    """Mode bits don't tell of a read-only mount, a quota or a full disk; writing does."""
    probe = path / ".probe"
    try:
        with probe.open("wb") as file:
            file.write(b"\0" * PROBE_BYTES)
            file.flush()
            os.fsync(file.fileno())
    finally:
        probe.unlink(missing_ok=True)


def read_json(path: Path) -> object:
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except ValueError:
        raise CannotStart(f"{path} is damaged: remove it, or put back a copy.") from None
