"""Processes that a run started and that outlived the pool process which ran it.

The worker's main process adopts them (it is a subreaper), and every process of a run carries its
Execution's id in the environment. So they are found, and ended with all below them.
"""

import ctypes
import logging
import os
from pathlib import Path
from typing import Any

from jobs.runner import MARK
from jobs.subprocesses import process_tree

log = logging.getLogger(__name__)

PR_SET_CHILD_SUBREAPER = 36
PROC = Path("/proc")


def adopt() -> None:
    """Have orphans of this process's children become its own, where the system can do that."""
    if PROC.exists():
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def pool_pids(worker: Any) -> set[int]:
    pool = getattr(getattr(worker, "pool", None), "_pool", None)
    return {process.pid for process in getattr(pool, "_pool", ()) if process.pid}


def kill_of(execution: str) -> None:
    for pid, mark in adopted():
        if mark == execution:
            end(pid, mark)


def kill_all() -> None:
    for pid, mark in adopted():
        end(pid, mark)


def end(pid: int, mark: str) -> None:
    log.warning("killing process %s, which %s left behind", pid, mark)
    process_tree.kill_tree(pid)
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        log.debug("process %s was reaped by somebody else", pid)


def adopted() -> list[tuple[int, str]]:
    """Direct children of this process that carry a run's mark. Pool processes do not: they set it in
    their own environment after they started, which /proc does not show."""
    found = []
    mine = os.getpid()
    if not PROC.exists():
        return []
    for pid in children_of(mine):
        try:
            environment = (PROC / str(pid) / "environ").read_bytes()
        except OSError:
            continue
        for entry in environment.split(b"\0"):
            name, _, value = entry.partition(b"=")
            if name == MARK.encode():
                found.append((pid, value.decode(errors="replace")))
    return found


def children_of(pid: int) -> list[int]:
    """From every thread's list: the one thread's list holds only what that thread started or adopted."""
    found: list[int] = []
    for children in (PROC / str(pid) / "task").glob("*/children"):
        try:
            found.extend(int(child) for child in children.read_text().split())
        except OSError:
            continue
    return found
