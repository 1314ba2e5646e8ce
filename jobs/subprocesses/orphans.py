"""Ends what runs have started, in the pool processes and in the worker's main process.

A pool process is a subreaper: what a body daemonizes becomes its child, and it ends all its children after
each run. When it dies, they become children of the main process, which is a subreaper as well. When that
dies, the watchdog ends them; see `watchdog`.
"""

import logging
import os
import signal
import time
from contextlib import suppress
from typing import Any

from celery import signals

from jobs.subprocesses import linux, marks, process_tree
from jobs.subprocesses.isolated import python_command
from jobs.subprocesses.process_tree import PROC
from jobs.subprocesses.watchdog import MESSAGE, boot_time

log = logging.getLogger(__name__)

WATCHDOG = python_command("jobs.subprocesses.watchdog", site_packages=False)
# The signals that interrupt a run: they must not interrupt what follows it.
RUN_SIGNALS = {signal.SIGUSR1, signal.SIGALRM}

KILL_ROUNDS, ROUND_SECONDS = 20, 0.01

_main_process: int | None = None
_in_pool_process = False


# --- in a pool process -----------------------------------------------------------------------------


@signals.worker_process_init.connect  # type: ignore[untyped-decorator]
def prepare_pool_process(**_: object) -> None:
    """Mark this process and all that its runs will start, adopt what they leave, and end with the worker."""
    global _in_pool_process  # noqa: PLW0603 (one in a process)
    # Without a main process this is no worker, and with the solo pool both are the same.
    if _main_process in (None, os.getpid()) or not PROC.exists():
        return
    _in_pool_process = True
    linux.become_subreaper()
    mark = marks.worker_mark(_main_process)
    if mark is not None:
        marks.set_mark(mark)
    linux.die_with_parent(_main_process)


def end_programs() -> None:
    """End what the last run of this pool process has started and left; one system call if that is nothing."""
    if not _in_pool_process:
        return
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, RUN_SIGNALS)
    try:
        process_tree.end_children({})
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# --- in the worker's main process ------------------------------------------------------------------


def prepare_main_process() -> None:
    global _main_process  # noqa: PLW0603 (the pool processes inherit it)
    _main_process = os.getpid()
    if PROC.exists():
        linux.become_subreaper()


def pool_pids(worker: Any) -> set[int]:
    return {process.pid for process in pool_processes(worker) or () if process.pid}


def pool_processes(worker: Any) -> list[Any] | None:
    """None until the pool has started."""
    pool = getattr(getattr(worker, "pool", None), "_pool", None)
    processes = getattr(pool, "_pool", None)
    return None if processes is None else list(processes)


def kill_orphans(worker: Any) -> None:
    """End what dead pool processes left behind, and collect what has ended by itself.

    The children of a killed process become ours, and are found in the next round. It has to be quick, since
    leases wait for it; what forks faster than this is left for the next call.
    """
    if not PROC.exists():
        return
    own_mark = marks.worker_mark(os.getpid())
    for _ in range(KILL_ROUNDS):
        orphans = [pid for pid in _adopted_pids(worker) if marks.read_mark(pid) == own_mark]
        for pid in orphans:
            log.warning("killing process %s, which a dead pool process left behind", pid)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not orphans:
            return
        time.sleep(ROUND_SECONDS)


def _adopted_pids(worker: Any) -> set[int]:
    """Our living children that are no pool processes; dead ones are collected."""
    # The children first: a pool process is in the list before it is started.
    children = process_tree.children(os.getpid())
    processes = pool_processes(worker)
    if processes is None or any(process.pid is None for process in processes):
        return set()  # one that is being started could be among the children
    adopted = set(children) - {process.pid for process in processes}
    for pid in adopted:
        _collect(pid)
    return adopted


def _collect(pid: int) -> None:
    process = process_tree.read_process(pid)
    if process is not None and process.dead:
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


class Watchdog:
    """This worker's watchdog, seen from its main process."""

    def __init__(self) -> None:
        self._pid = self._session = 0
        self._pipe = -1
        self._allowed_until = float("inf")

    def allow_until(self, moment: float, seconds: float) -> None:
        """Let this worker's runs go on until then, a time of `boot_time`, and those that start later for so
        many seconds.
        """
        if not PROC.exists():
            return
        if not self._pid or self._has_ended():
            self._start()
        if (late := boot_time() - self._allowed_until) > 0:
            # The watchdog itself writes nothing: nobody may read it.
            log.warning("the lease keeper was %.1f s late, so the watchdog has ended the runs", late)
        self._allowed_until = moment
        # A frozen watchdog does not read, and the pipe fills up. The next call starts a dead one again.
        with suppress(BlockingIOError, BrokenPipeError):
            os.write(self._pipe, MESSAGE.pack(moment, seconds))

    def _has_ended(self) -> bool:
        with suppress(ChildProcessError):  # collected elsewhere
            if os.waitpid(self._pid, os.WNOHANG)[0] == 0:
                return False
        # Its successor has become our child.
        for pid in process_tree.children(os.getpid()):
            process = process_tree.read_process(pid)
            if process is not None and not process.dead and process.session == self._session:
                self._pid = pid
                return False
        return True

    def _start(self) -> None:
        """Not with `subprocess`: its parent waits until a pipe closes that a pool process keeps open if it is
        forked at that moment.
        """
        if self._pid:
            log.warning("the watchdog ended by itself and is started again")
            os.close(self._pipe)
        reads, self._pipe = os.pipe()
        try:
            self._pid = self._session = os.posix_spawn(
                WATCHDOG[0],
                [*WATCHDOG, str(os.getpid())],
                {},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, reads, 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_DUP2, 1, 2),
                ],
                setsid=True,
            )
        finally:
            os.close(reads)
        os.set_blocking(self._pipe, False)
