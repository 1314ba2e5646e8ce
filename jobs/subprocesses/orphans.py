"""Ends processes that a run started and that outlived the pool process of the run.

The worker's main process is a subreaper, so it adopts them, and every process of a run has the id of its
Execution in the environment.
"""

import logging
import os
from contextlib import suppress
from typing import Any

from jobs.subprocesses import linux, process_tree
from jobs.subprocesses.process_tree import PROC

log = logging.getLogger(__name__)

# The environment variable with the Execution's id, in every process that a run starts.
RUN_MARK = "DURE_EXECUTION_ID"


def become_subreaper() -> None:
    """Make orphans of this process's children its own children, where the system supports that."""
    if PROC.exists():
        linux.become_subreaper()


def pool_pids(worker: Any) -> set[int]:
    pool = getattr(getattr(worker, "pool", None), "_pool", None)
    return {process.pid for process in getattr(pool, "_pool", ()) if process.pid}


def kill_orphans_of(execution: str) -> None:
    for pid, mark in adopted_children():
        if mark == execution:
            _kill(pid, mark)


def kill_all() -> None:
    for pid, mark in adopted_children():
        _kill(pid, mark)


def _kill(pid: int, mark: str) -> None:
    log.warning("killing process %s, which run %s left behind", pid, mark)
    process_tree.kill_tree(pid)
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        log.debug("process %s was reaped elsewhere", pid)


def adopted_children() -> list[tuple[int, str]]:
    """The direct children of this process that carry a run's mark, with the mark.

    Pool processes are not among them: they set the variable after their start, which /proc does not show.
    """
    if not PROC.exists():
        return []
    marked = []
    for pid in process_tree.children(os.getpid()):
        with suppress(OSError):  # the process has ended
            for entry in (PROC / str(pid) / "environ").read_bytes().split(b"\0"):
                name, _, value = entry.partition(b"=")
                if name == RUN_MARK.encode():
                    marked.append((pid, value.decode(errors="replace")))
    return marked
