"""A private folder for each command, removed afterwards.

A run that is killed cannot remove its folder. The folder stays locked as long as one of the run's processes
lives; the next run removes the folders that nobody has locked.
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = f"dure-command-{os.getuid()}-"
# A folder this young may not be locked yet.
MIN_AGE_SECONDS = 60.0


@contextmanager
def private_home() -> Iterator[tuple[Path, int]]:
    """The folder, and the descriptor that holds its lock, which the processes in the folder inherit."""
    sweep(Path(tempfile.gettempdir()), time.time())
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = None
    try:
        lock = _lock(home)
        yield home, lock
    finally:
        remove(home)
        if lock is not None:
            os.close(lock)


def sweep(parent: Path, now: float) -> None:
    for home in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):  # locked by a run, or removed by another process
            if now - home.lstat().st_mtime < MIN_AGE_SECONDS:
                continue
            lock = _lock(home)
            remove(home)
            os.close(lock)


def remove(home: Path) -> None:
    for folder, below, _ in os.walk(home):
        for name in below:
            # Files in a read-only folder could not be removed.
            with suppress(OSError):
                if not (path := Path(folder, name)).is_symlink():
                    path.chmod(0o700)
    shutil.rmtree(home, ignore_errors=True)


def _lock(home: Path) -> int:
    # Never through a link: every user can write to the parent folder.
    lock = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(lock)
        raise
    return lock
