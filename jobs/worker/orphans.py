"""Kills processes that a run started and that outlived the pool process which ran it.

The worker's main process is a subreaper, so they become its children, and every process of a run carries
its Execution's id in the environment.
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


def become_subreaper() -> None:
    """Have orphans of this process's children become its own children, where the system can do that."""
    if PROC.exists():
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def pool_pids(worker: Any) -> set[int]:
    pool = getattr(getattr(worker, "pool", None), "_pool", None)
    return {process.pid for process in getattr(pool, "_pool", ()) if process.pid}


def kill_orphans_of(execution: str) -> None:
    for pid, mark in adopted():
        if mark == execution:
            kill(pid, mark)


def kill_all() -> None:
    for pid, mark in adopted():
        kill(pid, mark)


def kill(pid: int, mark: str) -> None:
    log.warning("killing process %s, which %s left behind", pid, mark)
    process_tree.kill_tree(pid)
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        log.debug("process %s was reaped elsewhere", pid)


def adopted() -> list[tuple[int, str]]:
    """Direct children of this process that carry a run's mark, with it. Pool processes do not: they set it
    in their own environment after they started, which /proc does not show."""
    orphans = []
    if not PROC.exists():
        return []
    for pid in child_pids(os.getpid()):
        try:
            environment = (PROC / str(pid) / "environ").read_bytes()
        except OSError:
            continue
        for entry in environment.split(b"\0"):
            name, _, value = entry.partition(b"=")
            if name == MARK.encode():
                orphans.append((pid, value.decode(errors="replace")))
    return orphans


def child_pids(pid: int) -> list[int]:
    """From every thread's list: a thread's list holds only what that thread started or adopted."""
    pids: list[int] = []
    for children in (PROC / str(pid) / "task").glob("*/children"):
        try:
            pids.extend(int(child) for child in children.read_text().split())
        except OSError:
            continue
    return pids
