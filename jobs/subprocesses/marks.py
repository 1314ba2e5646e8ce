"""The mark of a worker, which all processes that its runs start inherit and cannot lose.

The mark is a value of the soft limit RLIMIT_RTTIME. Every process inherits its limits, whatever it does to
its parent, its group, its session or its environment, and this limit has no effect: it counts microseconds of
real-time scheduling, and the value is over 90,000 years. It holds the id of the worker's main process and the
time of its start, so it names one worker, also when another process gets the same id.

Only on Linux, and only where nobody has set a hard limit for RLIMIT_RTTIME.
"""

import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress

from jobs.subprocesses.process_tree import PROC, Process, freeze, read_file, read_process

PREFIX = 0x52  # in the upper bits, so that no ordinary limit is taken for a mark
START_BITS, PID_BITS = 33, 22
# Fewer than for a tree: no process loses its mark, so what is missed once is found the next time.
QUIET_ROUNDS = 2
LIMIT_NAME = b"Max realtime timeout"


def worker_mark(worker: int) -> int | None:
    """The mark of the worker with this main process; None if it has ended."""
    process = read_process(worker)
    return None if process is None or process.dead else _mark(process)


def set_mark(mark: int) -> None:
    """Mark this process and all that it will start. The hard limit stays, so that a worker which a run
    starts can have a mark of its own.
    """
    with suppress(OSError, ValueError):  # a lower hard limit
        resource.setrlimit(resource.RLIMIT_RTTIME, (mark, resource.getrlimit(resource.RLIMIT_RTTIME)[1]))


def read_mark(pid: int) -> int | None:
    with suppress(OSError):  # it ended meanwhile
        for line in read_file(f"{PROC}/{pid}/limits").splitlines():
            if line.startswith(LIMIT_NAME):
                soft = line[len(LIMIT_NAME) :].split()[0]
                if soft.isdigit() and int(soft) >> (START_BITS + PID_BITS) == PREFIX:
                    return int(soft)
    return None


def is_orphaned(mark: int) -> bool:
    """Whether the worker of this mark has ended."""
    return worker_mark(mark & (1 << PID_BITS) - 1) != mark


def marked_processes(condition: Callable[[int], bool]) -> dict[int, int]:
    """The living processes with a mark for which the condition holds, each with its mark.

    Not those of other containers, whose process ids mean others.
    """
    own_ids = os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116
    marked = {}
    for entry in os.scandir(PROC):
        if entry.name.isdigit():
            mark = read_mark(int(entry.name))
            if mark is not None and condition(mark):
                with suppress(OSError):
                    if os.stat(f"/proc/{entry.name}/ns/pid").st_ino == own_ids:  # noqa: PTH116
                        marked[int(entry.name)] = mark
    return marked


def kill_marked(condition: Callable[[int], bool]) -> set[int]:
    """Kill the processes with such a mark, except this one; return their ids."""
    marks = marked_processes(condition)
    marks.pop(os.getpid(), None)
    if not marks:
        return set()

    def find() -> set[int]:
        marks.update(marked_processes(condition))
        return marks.keys() - {os.getpid()}

    return {pid for pid in freeze(find, QUIET_ROUNDS) if _kill(pid, marks[pid])}


def _kill(pid: int, mark: int) -> bool:
    """Kill the process if it still is the one that had this mark."""
    with suppress(OSError):
        process = os.pidfd_open(pid)
        try:
            if read_mark(pid) == mark:
                signal.pidfd_send_signal(process, signal.SIGKILL)
                return True
        finally:
            os.close(process)
    return False


def _mark(process: Process) -> int:
    start = process.start & (1 << START_BITS) - 1
    return (PREFIX << START_BITS | start) << PID_BITS | process.pid
