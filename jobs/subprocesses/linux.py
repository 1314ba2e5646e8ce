"""The calls by which a child process is prepared. On other systems than Linux most of them do nothing."""

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Collection
from contextlib import suppress

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def _prctl(option: int, value: int) -> None:
    # Where a container forbids the call, the other measures still hold.
    if libc is not None:
        libc.prctl(option, value, 0, 0, 0)


def become_subreaper() -> None:
    """Make orphaned descendants children of this process."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel send this process a signal when the thread of `parent` that started it ends."""
    _prctl(PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os._exit(1)  # the parent died before the call above


def forbid_new_privileges() -> None:
    _prctl(PR_SET_NO_NEW_PRIVS, 1)


def reset_signals(keep: Collection[signal.Signals] = ()) -> None:
    """Restore the default handling: a worker ignores some signals, and a program it starts inherits that."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP} - set(keep):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def prefer_as_oom_victim() -> None:
    """When memory runs out, the kernel should kill this process, not the worker."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123
        score.write("500")


def lower_limit(which: int, value: int, grace: int = 0) -> None:
    """Set a soft limit, and a hard one `grace` above it. Never raises a limit that is lower already."""
    ceiling = value + grace
    soft, hard = (
        ceiling if limit == resource.RLIM_INFINITY else limit for limit in resource.getrlimit(which)
    )
    resource.setrlimit(which, (min(value, soft, hard), min(ceiling, hard)))
