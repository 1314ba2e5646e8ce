"""The only access to files of exports and replays: below one root, plain files, never through a link.

A name from a row or a message is split into components first, and refused if any is suspect; then each
component is opened from the one before it with O_NOFOLLOW. So a swap in the meantime has no effect: the file
that was opened is the file that was checked.
"""

import errno
import fcntl
import hashlib
import os
import secrets
import shutil
import stat
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from exports.failures import text

CHUNK = 1024 * 1024
MAX_NAME = 4_096
WORK = ".work"
PART = ".part"

# The errors of a full disk, quota or limit.
NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

Parts = tuple[str, ...]


class PathRefused(ValueError):
    """The name does not lead to a plain file below the root."""

    def __init__(self, code: str) -> None:
        super().__init__(text(code))


class AlreadyThere(FileExistsError):
    """A file of this name exists, and files are never overwritten."""


@dataclass(frozen=True, slots=True)
class Placed:
    size: int
    sha256: str


def split(root: Path, name: str) -> Parts:
    """The components below the root of an absolute name, or of one that is relative to the root."""
    if not 0 < len(name) <= MAX_NAME:
        raise PathRefused("path_length")
    if not name.isprintable() or any(sign in name for sign in "%\\"):
        raise PathRefused("path_characters")
    if unicodedata.normalize("NFKC", name) != unicodedata.normalize("NFC", name) or "\ufffd" in name:
        raise PathRefused("path_lookalikes")
    parts = name.split("/")
    if name.startswith("/"):
        # Compare components: as a string prefix, /srv/exports would contain /srv/exports-evil.
        base = root.as_posix().rstrip("/").split("/")
        if parts[: len(base)] != base:
            raise PathRefused("path_outside")
        parts = parts[len(base) :]
    for part in parts:
        if part in ("", ".", "..") or part.startswith(".") or part[-1] in " ." or len(part.encode()) > 255:
            raise PathRefused("path_component")
    if not parts:
        raise PathRefused("path_is_root")
    return tuple(parts)


class Store:
    """A root folder, and the operations below it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def open(self, parts: Parts) -> BinaryIO:
        """A plain file with one name, for reading. FileNotFoundError when there is none."""
        with self._folder(parts[:-1]) as folder:
            try:
                # O_NONBLOCK: opening a FIFO must not wait for a writer.
                fd = os.open(
                    parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder
                )
            except OSError as error:
                raise _refusal(error) from None
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode) or info.st_nlink != 1:
            os.close(fd)
            raise PathRefused("path_not_plain")
        return os.fdopen(fd, "rb")

    def place(
        self, parts: Parts, source: BinaryIO, copied: Callable[[int], None] = lambda _size: None
    ) -> Placed:
        """Copies the source beside its place, flushes it, and links it there. Never overwrites.

        The checksum is of the very bytes written. A reader sees no file, or the complete one.
        """
        with self._folder(parts[:-1], create=True) as folder:
            _clear_parts(folder, parts[-1])
            part = f".{parts[-1]}.{secrets.token_hex(8)}{PART}"
            fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o640, dir_fd=folder)
            try:
                with os.fdopen(fd, "wb") as target:
                    placed = _hash_chunks(source, target.write, copied)
                    target.flush()
                    os.fsync(target.fileno())
                    try:
                        os.link(part, parts[-1], src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
                    except FileExistsError:
                        raise AlreadyThere(f"{parts[-1]} is already there.") from None
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(part, dir_fd=folder)
            os.fsync(folder)
        return placed

    def remove(self, parts: Parts) -> bool:
        """Removes a file, and its folder if that is empty then; answers whether the file existed."""
        try:
            with self._folder(parts[:-1]) as folder:
                os.unlink(parts[-1], dir_fd=folder)
            with suppress(OSError), self._folder(parts[:-2]) as above:
                os.rmdir(parts[-2], dir_fd=above)
        except (FileNotFoundError, PathRefused):
            return False
        return True

    @contextmanager
    def workspace(self) -> Iterator[Path]:
        """A temporary folder, removed at the end, and swept if this process dies before."""
        name = secrets.token_hex(12)
        with self._folder((WORK,), create=True) as work:
            os.mkdir(name, 0o750, dir_fd=work)
            with _lock(work, name):
                try:
                    yield self.root / WORK / name
                finally:
                    shutil.rmtree(name, ignore_errors=True, dir_fd=work)

    def sweep(self, now: float, min_age: float = 60.0) -> int:
        """Removes the workspaces of dead processes; answers how many.

        A live process holds a lock on its workspace; the age covers the instant before the lock.
        """
        with suppress(FileNotFoundError, PathRefused), self._folder((WORK,)) as work:
            return sum(_remove_abandoned(work, name, now - min_age) for name in _names(work))
        return 0

    @contextmanager
    def _folder(self, parts: Parts, create: bool = False) -> Iterator[int]:
        if create:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o750)
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        fd = os.open(self.root, flags)
        try:
            for part in parts:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(part, 0o750, dir_fd=fd)
                try:
                    inner = os.open(part, flags | os.O_NOFOLLOW, dir_fd=fd)
                except OSError as error:
                    raise _refusal(error) from None
                os.close(fd)
                fd = inner
            yield fd
        finally:
            os.close(fd)


def checksum(source: BinaryIO, hashed: Callable[[int], None] = lambda _size: None) -> Placed:
    """Size and checksum of an existing file."""
    return _hash_chunks(source, lambda _chunk: None, hashed)


def _hash_chunks(source: BinaryIO, write: Callable[[bytes], object], done: Callable[[int], None]) -> Placed:
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(CHUNK):
        digest.update(chunk)
        write(chunk)
        size += len(chunk)
        done(size)
    return Placed(size, digest.hexdigest())


def _clear_parts(folder: int, name: str) -> None:
    """Removes the parts of an earlier attempt: after a kill between link and unlink the file would have two
    names, and could not be opened."""
    for part in _names(folder):
        if part.startswith(f".{name}.") and part.endswith(PART):
            with suppress(FileNotFoundError):
                os.unlink(part, dir_fd=folder)


def _names(folder: int) -> list[str]:
    return os.listdir(folder)


def _remove_abandoned(folder: int, name: str, old: float) -> int:
    with suppress(FileNotFoundError), _lock(folder, name, wait=False) as held:
        if held is None or held.st_mtime > old or not stat.S_ISDIR(held.st_mode):
            return 0
        shutil.rmtree(name, dir_fd=folder)
        return 1
    return 0


@contextmanager
def _lock(folder: int, name: str, wait: bool = True) -> Iterator[os.stat_result | None]:
    """The status of the folder while this process holds its lock; None when another does, or it is a link."""
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        yield None
        return
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield None
        else:
            yield os.fstat(fd)
    finally:
        os.close(fd)


def _refusal(error: OSError) -> Exception:
    if isinstance(error, FileNotFoundError):
        return error
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.EMLINK, errno.ENAMETOOLONG):
        return PathRefused("path_link")
    return error
