"""Ends a process together with everything it started, whatever groups and sessions that has moved to.

On Linux the tree is read from /proc. Elsewhere only the process group can be reached. A process that
daemonized (its parent exited) belongs to the tree only as long as it shares a group or a session with
it; `workers/subprocess_guard.py` is a subreaper so that nothing of a command can get that far.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
# A round stops all it sees, and what is stopped cannot fork. One quiet round does not prove the end:
# a process that forks and leaves while /proc is being read may be seen by neither of its numbers.
QUIET_ROUNDS = 15
# Only a fork bomb comes near this.
FREEZE_ROUNDS = 50


class Process(NamedTuple):
    pid: int
    parent: int
    group: int
    session: int
    dead: bool


def kill_tree(pid: int, sig: int = signal.SIGKILL) -> set[int]:
    """Signals the process, its descendants and their process groups; answers whom it signalled.

    Never the caller, and never the caller's own group as such: a pool process can be killed without
    the worker it shares a group with. A process that calls this on itself ends all below it.
    """
    if pid < 2:
        raise ValueError(f"{pid} names no single process.")
    if not (PROC / "self" / "stat").exists():
        return _signal_group(pid, sig)
    # Killed one by one, a tree that forks meanwhile would get away; and orphans lose their tree.
    doomed = _freeze(pid) if sig == signal.SIGKILL else tree(pid)
    return {process for process in doomed if _send(process, sig)}


def tree(pid: int) -> set[int]:
    """The living processes of the tree that starts at pid, without the caller."""
    processes = _snapshot()
    root = processes.get(pid)
    found: dict[int, Process] = {} if root is None else {pid: root}
    groups, sessions = {pid}, {pid}
    foreign = {os.getpgrp()} | ({root.group} - {pid} if root else set())
    while True:
        new = [
            process
            for process in processes.values()
            if process.pid not in found
            and process.pid != os.getpid()
            and (
                process.parent in found
                or process.session in sessions
                or (process.group in groups and process.group not in foreign)
            )
        ]
        if not new:
            return {process.pid for process in found.values() if not process.dead} - {os.getpid()}
        found.update({process.pid: process for process in new})
        sessions.update(process.pid for process in new)
        groups.update(process.pid for process in new)
        # A group whose leader is gone was made in this tree, since the one the root was born in is
        # `foreign`; one whose leader lives elsewhere is somebody else's.
        groups.update(process.group for process in new if process.group not in processes)


def _freeze(pid: int) -> set[int]:
    """Stops the tree, again and again until nothing new appears in it."""
    frozen: set[int] = set()
    quiet = 0
    for _ in range(FREEZE_ROUNDS):
        new = tree(pid) - frozen
        quiet = 0 if new else quiet + 1
        if quiet == QUIET_ROUNDS:
            break
        for process in new:
            _send(process, signal.SIGSTOP)
        frozen |= new
    return frozen


def _snapshot() -> dict[int, Process]:
    found = {}
    for entry in os.scandir(PROC):
        if entry.name.isdigit():
            with suppress(OSError):  # it ended meanwhile
                process = _parse(_read(f"{PROC}/{entry.name}/stat"))
                found[process.pid] = process
    return found


def _read(path: str) -> bytes:
    # Four times as quick as pathlib, and in this race that counts.
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 4_096)
    finally:
        os.close(descriptor)


def _parse(stat: bytes) -> Process:
    # The command's name stands in parentheses and may hold anything, parentheses and spaces included.
    pid, _, rest = stat.partition(b" (")
    state, parent, group, session = rest.rpartition(b") ")[2].split()[:4]
    return Process(int(pid), int(parent), int(group), int(session), dead=state in (b"Z", b"X"))


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
