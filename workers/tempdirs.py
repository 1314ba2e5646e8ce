"""Gives each command a private folder, and takes it away afterwards.

A run that is killed cannot tidy up. Its folder stays locked as long as one of its processes lives;
whoever makes the next one removes what nobody holds any more.
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
# A folder just made is not locked yet.
YOUNG_SECONDS = 60.0


@contextmanager
def private_home() -> Iterator[tuple[Path, int]]:
    """The folder, and the descriptor that holds its lock: hand it on to what works in there."""
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
        with suppress(OSError):  # held by a run, or somebody else was quicker
            if now - home.lstat().st_mtime < YOUNG_SECONDS:
                continue
            lock = _lock(home)
            remove(home)
            os.close(lock)


def remove(home: Path) -> None:
    for folder, below, _ in os.walk(home):
        for name in below:
            # A folder that its owner made read-only would keep what is in it.
            with suppress(OSError):
                if not (path := Path(folder, name)).is_symlink():
                    path.chmod(0o700)
    shutil.rmtree(home, ignore_errors=True)


def _lock(home: Path) -> int:
    # Not through a link: the parent folder is everybody's.
    lock = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(lock)
        raise
    return lock
