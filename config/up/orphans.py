"""Processes that outlived whoever started them. As their adoptive parent we end and bury them."""

import os
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from jobs.subprocesses.process_tree import kill_tree

PATIENCE = 5.0


def end(spared: Collection[int]) -> int:
    """Kills every child of ours but the spared ones, with all below them; answers how many there were."""
    seen: set[int] = set()
    deadline = time.monotonic() + PATIENCE
    while (found := living() - set(spared)) and time.monotonic() < deadline:
        for pid in found:
            kill_tree(pid)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        seen |= found
        time.sleep(0.01)
    return len(seen)


def bury(known: Collection[int]) -> None:
    """Takes the exit codes of adopted children that have ended; those of the known are for others to take."""
    with suppress(ChildProcessError):
        while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            if ended.si_pid in known:
                return
            os.waitpid(ended.si_pid, os.WNOHANG)


def living() -> set[int]:
    """Our children by the kernel's account, adopted ones included."""
    us = str(os.getpid())
    found: set[int] = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError):
            if stat.read_text().rpartition(")")[2].split()[1] == us:
                found.add(int(stat.parent.name))
    return found
