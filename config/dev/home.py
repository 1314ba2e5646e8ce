"""DURE_HOME: the folder of all data of a running system, and its lock.

Every process of the system inherits the lock, so the kernel releases it when the last one has ended. The lock
file lists their process groups, the runner's first.
"""

import errno
import fcntl
import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from config.dev import URLS, CannotStart, Servers

FREE_BYTES_NEEDED = 200 * 2**20
PROBE_BYTES = 64 * 2**10
# The time that the processes of a killed runner have to end.
GRACE_SECONDS = 8.0
# After that they are killed, which takes a moment.
KILL_SECONDS = 2.0


@dataclass
class Home:
    path: Path
    lock: IO[str]
    servers: Servers = field(default_factory=Servers)

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    def close(self) -> None:
        with suppress(OSError):
            (self.path / URLS).unlink(missing_ok=True)
            self.remove_temporary_folder()
        self.lock.close()

    def temporary_folder(self) -> Path:
        """A folder with a short path; TMPDIR may be long. A link in the home names it for the next start."""
        self.remove_temporary_folder()
        folder = Path(tempfile.mkdtemp(prefix="dure-", dir="/tmp"))
        self._temporary_link.symlink_to(folder)
        return folder

    def remove_temporary_folder(self) -> None:
        if self._temporary_link.is_symlink():
            shutil.rmtree(self._temporary_link.readlink(), ignore_errors=True)
            self._temporary_link.unlink()

    @property
    def _temporary_link(self) -> Path:
        return self.path / "temporary"

    def record_group(self, group: int) -> None:
        self.lock.write(f"{group}\n")
        self.lock.flush()

    def publish(self, servers: Servers) -> None:
        """Writes the URLs for other commands of this home, such as `manage.py` in another terminal."""
        self.servers = servers
        write_private_json(self.path / URLS, {"database": servers.database, "redis": servers.redis})


def open_home(path: Path) -> Home:
    """Creates the folder if necessary, checks that it is writable, and locks it."""
    try:
        # As root, PostgreSQL's account must be able to reach its subfolder.
        path.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
        lock = _lock(path)
        (path / "logs").mkdir(mode=0o700, exist_ok=True)
        _write_probe(path)
    except OSError as error:
        raise CannotStart(not_writable(path, error)) from None
    check_free_space(path, shutil.disk_usage(path).free)
    return Home(path, lock)


def is_running(path: Path) -> bool:
    """Whether a system runs in this home."""
    try:
        with (path / "lock").open("r+") as file:
            return not _try_lock(file) and any(map(_exists, _groups(file)[:1]))
    except (FileNotFoundError, NotADirectoryError):
        return False


def not_writable(path: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"DURE_HOME ({path}) is full: make room there, or set DURE_HOME to another folder."
    return f"DURE_HOME ({path}) cannot be written: {error.strerror}. Set DURE_HOME to a folder of yours."


def check_free_space(path: Path, free: int) -> None:
    if free < FREE_BYTES_NEEDED:
        raise CannotStart(
            f"DURE_HOME ({path}) is nearly full: {free // 2**20} MiB are free there and "
            f"{FREE_BYTES_NEEDED // 2**20} MiB are needed. Make room, or set DURE_HOME to another folder."
        )


def read_json(path: Path) -> object:
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except ValueError:
        raise CannotStart(f"{path} is damaged: remove it, or restore a copy.") from None


def write_private(path: Path, text: str) -> None:
    """Replaces the file atomically; only its owner may read it, from the first moment on."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def write_private_json(path: Path, value: object) -> None:
    write_private(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _lock(path: Path) -> IO[str]:
    file = (path / "lock").open("a+")
    if not _try_lock(file):
        groups = _groups(file)
        if not groups or _exists(groups[0]) or not _end_leftovers(file, groups[1:]):
            file.close()
            raise CannotStart(
                f"A system is already running in {path} (process {groups[0] if groups else 'unknown'}): "
                "stop it first, or set DURE_HOME to another folder."
            )
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file


def _groups(file: IO[str]) -> list[int]:
    """The process groups that the lock file lists."""
    file.seek(0)
    return [int(line) for line in file.read().split() if line.isdigit()]


def _end_leftovers(file: IO[str], groups: list[int]) -> bool:
    """The runner was killed. On Linux its processes end too; elsewhere this runner kills them."""
    return _lock_within(file, GRACE_SECONDS) or _lock_within(file, KILL_SECONDS, kill=groups)


def _lock_within(file: IO[str], seconds: float, kill: Sequence[int] = ()) -> bool:
    """Tries until it has the lock or the time is over, and kills these groups meanwhile."""
    deadline = time.monotonic() + seconds
    while not _try_lock(file):
        for group in kill:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        if time.monotonic() > deadline:
            # This process may not have run itself since its last attempt.
            return _try_lock(file)
        time.sleep(0.05)
    return True


def _try_lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _write_probe(path: Path) -> None:
    """Mode bits do not reveal a read-only mount, a quota or a full disk; writing does."""
    with tempfile.NamedTemporaryFile(dir=path, prefix=".probe-") as file:
        file.write(b"\0" * PROBE_BYTES)
        file.flush()
        os.fsync(file.fileno())
