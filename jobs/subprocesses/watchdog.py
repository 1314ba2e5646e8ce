"""The process beside each worker that ends the worker's runs when the worker cannot.

When the worker's main process has died, nobody is left who could end what its runs started; when it is
frozen, its runs go on after another worker may have started them. The watchdog kills all processes with the
worker's mark then: the pool processes and all that they started. It also kills what carries the mark of any
other worker of this machine that has died, for watchdogs can be killed too.

The worker writes to standard input until when its runs may go on, and how long one that starts later may go
on without another message. A second process, the successor, waits for the end of the watchdog and takes its
place, so a worker that is killed with its watchdog leaves nothing either. When both have ended, the worker
starts a watchdog again.
"""

import os
import select
import signal
import struct
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from jobs.subprocesses.marks import is_orphaned, kill_marked, worker_mark

# A time of `boot_time`, and seconds. So few bytes are written to a pipe at once or not at all.
MESSAGE = struct.Struct("dd")
CHECK_SECONDS = 1.0
SWEEP_SECONDS = 10.0
# After this long, what survives SIGKILL hangs in the kernel.
KILL_TIMEOUT_SECONDS = 10.0
# Everything that stops a worker reaches its watchdog too, where both are in one control group.
IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


def boot_time() -> float:
    """A clock that advances while the machine sleeps, as a lease does."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)


def main(argv: Sequence[str]) -> None:
    """Argument: the id of the worker's main process."""
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    os.chdir("/")
    worker = int(argv[0])
    mark = worker_mark(worker)
    if mark is None:
        kill_all(is_orphaned)
        return
    successor = watch(worker, mark)
    kill_all(lambda other: other == mark)
    kill_all(is_orphaned)
    with suppress(ProcessLookupError):
        os.kill(successor, signal.SIGKILL)


def start_successor() -> int:
    """Fork a process that becomes another watchdog, with the same worker and input, if this one is killed."""
    watched = os.getpid()
    successor = os.fork()
    if successor == 0:
        while os.getppid() == watched:
            time.sleep(CHECK_SECONDS)
        os.execv(sys.executable, sys.orig_argv)  # noqa: S606 (this very command)
    return successor


def watch(worker: int, mark: int) -> int:
    """Return when the worker has ended, with the id of the successor."""
    allowed_until = seconds = float("inf")
    next_sweep = 0.0
    successor = start_successor()
    # Not the end of the input: the pool processes inherit its other end.
    while os.getppid() == worker:
        if os.waitpid(successor, os.WNOHANG)[0]:
            successor = start_successor()
        if select.select([sys.stdin], [], [], CHECK_SECONDS)[0]:
            message = os.read(sys.stdin.fileno(), MESSAGE.size * 512)
            if not message:
                break
            allowed_until, seconds = MESSAGE.unpack(message[-MESSAGE.size :])
        now = boot_time()
        if now > allowed_until:
            kill_marked(lambda other: other == mark)
            # The worker may start new pool processes though its lease keeper is late. Their leases begin now.
            allowed_until = now + seconds
        if now >= next_sweep:
            next_sweep = now + SWEEP_SECONDS
            kill_marked(is_orphaned)
    return successor


def kill_all(condition: Callable[[int], bool]) -> None:
    """Repeat until nothing is left, since a killed process is still seen for a moment."""
    ends = time.monotonic() + KILL_TIMEOUT_SECONDS
    while kill_marked(condition) and time.monotonic() < ends:
        time.sleep(0.05)
