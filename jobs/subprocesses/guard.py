"""The process between a worker and a command: nothing that the command starts outlives its run.

A command may start other programs, change their groups and sessions, or daemonize. The guard is their
subreaper: a process that loses its parent becomes the guard's child, so the guard always finds all of them.
It ends them when the command has ended, when it receives SIGTERM, and when the worker closes its end of the
lifeline pipe, which also happens when the worker is killed. `program.py` starts the guard as a program of
its own, with the command's environment.

Systems other than Linux have no subreapers: there only the command's process group is ended.
"""

import json
import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from jobs.subprocesses import linux
from jobs.subprocesses.process_tree import end_children, kill_tree, reap

# No RLIMIT_NPROC: it counts all processes of the user, so also those of the worker and its other runs.
LIMITS = ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 2**30), (resource.RLIMIT_NOFILE, 1_024))


def main(argv: Sequence[str]) -> None:
    """Arguments: the descriptors of the lifeline and the report, the grace in seconds, the command."""
    lifeline, report, grace = int(argv[0]), int(argv[1]), float(argv[2])
    wakeup, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    terminated: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: terminated.append(number))
    signal.signal(signal.SIGCHLD, lambda *_: None)  # only to wake up
    linux.become_subreaper()
    try:
        # Safe here: this process has one thread. The argv is the caller's, never through a shell.
        command = subprocess.Popen(  # noqa: S603
            argv[3:],
            process_group=0,
            umask=0o077,
            preexec_fn=partial(_prepare_command, os.getpid()),  # noqa: PLW1509
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        _send(report, {"error": str(error)})
        return
    codes: dict[int, int] = {}
    while command.pid not in codes:
        readable, _, _ = select.select([lifeline, wakeup], [], [])
        if lifeline in readable or terminated:
            _terminate(wakeup, grace, codes)
            break
        os.read(wakeup, 512)
        reap(codes)
    end_children(codes, partial(_wait, wakeup))
    command.returncode = codes.get(command.pid, -signal.SIGKILL)
    _send(report, {"exit_code": command.returncode})


def _prepare_command(parent: int) -> None:
    """Runs in the command's process, just before it becomes the command."""
    linux.reset_signals()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    linux.die_with_parent(parent)
    linux.forbid_new_privileges()
    for which, value in LIMITS:
        linux.lower_limit(which, value)
    linux.prefer_as_oom_victim()


def _terminate(wakeup: int, grace: float, codes: dict[int, int]) -> None:
    """Ends all processes by SIGTERM, once each, also those that others start before they end."""
    signalled: set[int] = set()
    ends = time.monotonic() + grace
    while reap(codes) and (left := ends - time.monotonic()) > 0:
        signalled |= kill_tree(os.getpid(), signal.SIGTERM, signalled)
        _wait(wakeup, left)


def _wait(wakeup: int, seconds: float) -> None:
    if select.select([wakeup], [], [], seconds)[0]:
        os.read(wakeup, 512)


def _send(report: int, message: dict[str, object]) -> None:
    with suppress(BrokenPipeError):
        os.write(report, json.dumps(message).encode())
