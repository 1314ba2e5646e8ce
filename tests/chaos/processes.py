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
    """The living processes that run bodies."""
    return [pid for pid in worker.pool() if is_alive(pid)]
