"""What /proc tells about processes."""

from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that waits to be reaped does not."""
    with suppress(OSError):
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
