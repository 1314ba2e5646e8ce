"""Tells whether a process id still means the process that we once started.

A number alone is not enough: after a crash or a reboot it may belong to somebody else.
"""

import os
import subprocess
from pathlib import Path

PROC = Path("/proc")


def of(pid: int) -> str:
    """What tells this process from all others that ever had its number; empty when it has ended."""
    stat = PROC / str(pid) / "stat"
    if PROC.joinpath("self", "stat").exists():
        try:
            # The name in parentheses may contain anything, so count the fields from its end.
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return ""
        state, started = fields[0], fields[19]
        return "" if state in "ZX" else f"{_boot()}:{started}"
    return _started_by_ps(pid)


def is_alive(pid: int, identity: str) -> bool:
    return bool(identity) and of(pid) == identity


def command_line(pid: int) -> str:
    try:
        return (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return _ps(pid, "command=")


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _boot() -> str:
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _started_by_ps(pid: int) -> str:
    """macOS has no /proc."""
    return "" if _ps(pid, "stat=").startswith("Z") else _ps(pid, "lstart=")


def _ps(pid: int, column: str) -> str:
    try:
        answer = subprocess.run(
            ["ps", "-o", column, "-p", str(pid)],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return ""
    return answer.stdout.strip()
