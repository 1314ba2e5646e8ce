"""Ends a process together with everything it started, also in other groups and sessions.

On Linux the tree is read from /proc; elsewhere only the process group can be reached. A process that
daemonized (its parent exited) belongs to the tree only while it shares a group or a session with it;
`guard.py` is a subreaper, so that no process of a command gets that far.

Not psutil: its children() follows parents only, not groups and sessions; it reads each process several times
slower, which loses the race against a forking process; and the guard runs without site packages.
"""

import os
import signal
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
# Each round stops all processes that it sees, and a stopped process cannot fork. One round without a new
# process is no proof: one that forks and exits while /proc is read may be missed under both of its pids.
QUIET_ROUNDS = 15
# Only a fork bomb needs this many.
FREEZE_ROUNDS = 50
# A process that survives SIGKILL for this long hangs in the kernel; waiting longer would hold up the run.
KILL_TIMEOUT_SECONDS = 5.0


class Process(NamedTuple):
    pid: int
    parent: int
    group: int
    session: int
    dead: bool
    start: int  # in clock ticks since the system's start; with the id it names one process for ever


def kill_tree(pid: int, sig: int = signal.SIGKILL, except_for: Collection[int] = ()) -> set[int]:
    """Signal the process, its descendants and their process groups; return the pids that were signalled.

    Never signals those of `except_for` and the caller, nor the caller's own group as such: a pool process can
    be killed without the worker whose group it shares. A process that calls this on itself ends all its
    descendants.
    """
    return kill_trees({pid}, sig, except_for)


def kill_trees(
    roots: Collection[int], sig: int = signal.SIGKILL, except_for: Collection[int] = ()
) -> set[int]:
    """The same for several processes, in the time that one takes."""
    for pid in roots:
        if pid < 2:
            raise ValueError(f"{pid} does not name a single process.")
    if not (PROC / "self" / "stat").exists():
        return {process for pid in set(roots).difference(except_for) for process in _signal_group(pid, sig)}
    # Killed one by one, a tree that forks meanwhile would escape, and orphans would leave the tree.
    pids = freeze(partial(tree, *roots)) if sig == signal.SIGKILL else tree(*roots)
    return {process for process in pids.difference(except_for) if _send(process, sig)}


def tree(*roots: int) -> set[int]:
    """The living processes of the trees that start at these, without the caller."""
    processes = _snapshot()
    members = {pid: processes[pid] for pid in roots if pid in processes}
    groups, sessions = set(roots), set(roots)
    foreign = {os.getpgrp()} | ({root.group for root in members.values()} - groups)
    while True:
        new = [
            process
            for process in processes.values()
            if process.pid not in members
            and process.pid != os.getpid()
            and (
                process.parent in members
                or process.session in sessions
                or (process.group in groups and process.group not in foreign)
            )
        ]
        if not new:
            return {process.pid for process in members.values() if not process.dead} - {os.getpid()}
        members.update({process.pid: process for process in new})
        sessions.update(process.pid for process in new)
        groups.update(process.pid for process in new)
        # A group without a leader was created in this tree, since the root's first group is `foreign`; a
        # group whose leader lives elsewhere belongs to another tree.
        groups.update(process.group for process in new if process.group not in processes)


def end_children(codes: dict[int, int], pause: Callable[[float], object] = time.sleep) -> None:
    """Kill all descendants of this process, which is a subreaper, and collect their exit codes."""
    ends = time.monotonic() + KILL_TIMEOUT_SECONDS
    # Repeat until no child is left: the children of a killed process become ours.
    while reap(codes) and time.monotonic() < ends:
        kill_tree(os.getpid())
        pause(0.01)


def reap(codes: dict[int, int]) -> bool:
    """Collect the exit codes of ended children; return whether there are children left."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        codes[pid] = os.waitstatus_to_exitcode(status)


def freeze(find: Callable[[], set[int]], quiet_rounds: int = QUIET_ROUNDS) -> set[int]:
    """Stop all processes that `find` finds, repeatedly until no new one appears."""
    frozen: set[int] = set()
    quiet = 0
    for _ in range(FREEZE_ROUNDS):
        new = find() - frozen
        quiet = 0 if new else quiet + 1
        if quiet == quiet_rounds:
            break
        for process in new:
            _send(process, signal.SIGSTOP)
        frozen |= new
    return frozen


def _snapshot() -> dict[int, Process]:
    processes = {}
    for entry in os.scandir(PROC):
        if entry.name.isdigit():
            process = read_process(int(entry.name))
            if process is not None:
                processes[process.pid] = process
    return processes


def read_process(pid: int) -> Process | None:
    with suppress(OSError):
        return _parse(read_file(f"{PROC}/{pid}/stat"))
    return None  # it has ended


def read_file(path: str) -> bytes:
    # Four times as fast as pathlib, which matters in this race.
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 4_096)
    finally:
        os.close(descriptor)


def children(pid: int) -> list[int]:
    """The direct children: each thread of a process lists those that it started or adopted."""
    pids: list[int] = []
    for path in (PROC / str(pid) / "task").glob("*/children"):
        with suppress(OSError):
            pids.extend(int(child) for child in path.read_text().split())
    return pids


def _parse(stat: bytes) -> Process:
    # The command's name is in parentheses and may contain anything, also parentheses and spaces.
    pid, _, rest = stat.partition(b" (")
    state, parent, group, session, *others = rest.rpartition(b") ")[2].split()
    dead = state in (b"Z", b"X")
    return Process(int(pid), int(parent), int(group), int(session), dead, start=int(others[15]))


def _send(pid: int, sig: int) -> bool:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, sig)
        return True
    return False


def _signal_group(pid: int, sig: int) -> set[int]:
    with suppress(ProcessLookupError, PermissionError):
        group = os.getpgid(pid)
        if group == pid and group != os.getpgrp():
            os.killpg(group, sig)
        else:
            os.kill(pid, sig)
        return {pid}
    return set()
