"""What /proc tells about processes."""

from contextlib import suppress
from pathlib import Path

from tests.workers import Process

PROC = Path("/proc")


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that waits to be reaped does not."""
    with suppress(OSError):
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def pool_of(worker: Process) -> list[int]:
    """The living processes that run bodies; they have the command line of their parent."""
    return [pid for pid in worker.children() if b"celery" in command_of(pid) and is_alive(pid)]


def command_of(pid: int) -> bytes:
    with suppress(OSError):
        return (PROC / str(pid) / "cmdline").read_bytes()
    return b""
