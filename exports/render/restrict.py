"""Takes from this process what decoding a video does not need, before it sees the first byte of one.

What is left to a decoder that was taken over: to compute, to write into the file and the pipe that it was
given, and to change the modes of its user's files. It opens, renames and removes none, reaches no network,
starts nothing, signals nobody, and ends with its parent.

Each of these holds by itself, so a system that lacks one (Landlock is Linux's, since 5.13) still has
the others. Not here: namespaces, which many hosts forbid and which open more of the kernel than they
close, and a list of system calls, which would differ from processor to processor.
"""

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
# The same numbers on every processor.
LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF = 444, 446
LANDLOCK_CREATE_RULESET_VERSION = 1
# How many kinds of access to files each version of Landlock knows; later ones know as many as the last.
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
TCP_SINCE, TCP_RIGHTS = 4, 0b11
SCOPES_SINCE, SCOPES = 6, 0b11  # abstract sockets, and signals to others

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


@dataclass(frozen=True, slots=True)
class Limits:
    memory: int  # bytes of its own; programs and libraries come on top
    cpu_seconds: int
    output: int  # bytes of the largest file


def tie_to_parent(parent: int) -> None:
    """When the one who started this process is gone, so is this process."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # it died before we asked to be told


def confine(limits: Limits) -> None:
    """For good. Everything that will be needed must have been imported and opened."""
    # Where memory runs out, let it be this process that dies, not the worker.
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123
        score.write("500")
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    with suppress(OSError):
        _forbid_paths()
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_CPU, limits.cpu_seconds, grace=5)  # at the second of the two it is SIGKILL
    _limit(resource.RLIMIT_FSIZE, limits.output)
    _limit(resource.RLIMIT_DATA, limits.memory)
    # None beside those it has: without a new descriptor there is no file and no socket.
    _limit(resource.RLIMIT_NOFILE, 0)
    if hasattr(resource, "RLIMIT_NPROC"):
        _limit(resource.RLIMIT_NPROC, 0)  # no process, and no thread


def _limit(which: int, wanted: int, grace: int = 0) -> None:
    """Downwards only: whoever started us may have set less."""
    endless = wanted + grace
    soft, hard = (
        endless if limit == resource.RLIM_INFINITY else limit for limit in resource.getrlimit(which)
    )
    resource.setrlimit(which, (min(wanted, soft, hard), min(endless, hard)))


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64)]


def _forbid_paths() -> None:
    """A ruleset without rules forbids all it handles, everywhere. Unlinking, say, takes no descriptor."""
    if _libc is None:
        return
    version = _libc.syscall(
        LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(LANDLOCK_CREATE_RULESET_VERSION)
    )
    if version < 1:
        return
    ruleset = _Ruleset(
        files=(1 << FILE_RIGHTS[min(version, max(FILE_RIGHTS))]) - 1,
        network=TCP_RIGHTS if version >= TCP_SINCE else 0,
        scopes=SCOPES if version >= SCOPES_SINCE else 0,
    )
    made = _libc.syscall(
        LANDLOCK_CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(ctypes.sizeof(ruleset)), 0
    )
    if made < 0:
        raise OSError(ctypes.get_errno(), "no ruleset")
    _libc.syscall(LANDLOCK_RESTRICT_SELF, made, 0)
    os.close(made)


def _prctl(option: int, value: int) -> None:
    if _libc is not None:
        _libc.prctl(option, value, 0, 0, 0)
