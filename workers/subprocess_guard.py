"""The small process between a worker and a command, so that nothing of the command outlives its run.

A command may start others, change their groups and sessions, or daemonize. This process is their
subreaper: whatever loses its parent becomes its child, so it always finds all of them. It ends them
when the command has ended, when it gets SIGTERM, and when the worker closes its end of the lifeline
pipe, which also happens when the worker is killed. `workers/program.py` starts it, as a program of
its own with nothing but the standard library; its environment is the command's.

Outside Linux there are no subreapers: there only the command's process group is ended.
"""

import ctypes
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

from jobs.subprocesses.process_tree import kill_tree

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

# No RLIMIT_NPROC: it counts all processes of the user, so those of the worker and its other runs too.
LIMITS = ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 2**30), (resource.RLIMIT_NOFILE, 1_024))
# Unkillable for so long: the process sits in the kernel, and waiting on would hold up the run.
GIVE_UP_SECONDS = 5.0

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def main(lifeline: int, report: int, grace: float, argv: Sequence[str]) -> None:
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    terminated: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: terminated.append(number))
    signal.signal(signal.SIGCHLD, lambda *_: None)  # for the wake-up alone
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        # Safe here: this process has one thread. The argv is the caller's, never through a shell.
        command = subprocess.Popen(  # noqa: S603
            argv,
            process_group=0,
            umask=0o077,
            preexec_fn=_confine,  # noqa: PLW1509
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        _tell(report, {"error": str(error)})
        return
    codes: dict[int, int] = {}
    while command.pid not in codes:
        readable, _, _ = select.select([lifeline, woken], [], [])
        if lifeline in readable or terminated:
            _ask_to_end(woken, grace, codes)
            break
        os.read(woken, 512)
        _reap(codes)
    _end_all(woken, codes)
    command.returncode = codes.get(command.pid, -signal.SIGKILL)
    _tell(report, {"exit_code": command.returncode})


def _confine() -> None:
    """In the command's process, just before it becomes the command."""
    # A pool process ignores some signals, and what is ignored stays so in every program it starts.
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    # Tied to the thread that forks: this process has but one.
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    for limit, wanted in LIMITS:
        _, hard = resource.getrlimit(limit)
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(limit, (value, value))
    # Where memory runs out, let it be the command that dies, not the worker.
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123
        score.write("500")


def _ask_to_end(woken: int, grace: float, codes: dict[int, int]) -> None:
    kill_tree(os.getpid(), signal.SIGTERM)
    ends = time.monotonic() + grace
    while _reap(codes) and (left := ends - time.monotonic()) > 0:
        _pause(woken, left)


def _end_all(woken: int, codes: dict[int, int]) -> None:
    """Again and again until no child is left, since those of a killed one become ours."""
    ends = time.monotonic() + GIVE_UP_SECONDS
    while _reap(codes) and time.monotonic() < ends:
        kill_tree(os.getpid())
        _pause(woken, 0.01)


def _reap(codes: dict[int, int]) -> bool:
    """Takes what has ended; says whether there are children left."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        codes[pid] = os.waitstatus_to_exitcode(status)


def _pause(woken: int, seconds: float) -> None:
    if select.select([woken], [], [], seconds)[0]:
        os.read(woken, 512)


def _tell(report: int, message: dict[str, object]) -> None:
    with suppress(BrokenPipeError):
        os.write(report, json.dumps(message).encode())


def _prctl(option: int, value: int) -> None:
    # Where a sandbox forbids it, the group and the tree still find nearly all.
    if _libc is not None:
        _libc.prctl(option, value, 0, 0, 0)
