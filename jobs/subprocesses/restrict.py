"""Confines this process to what decoding a file needs, before it reads the first byte of it.

An exploited decoder can still compute, write to the file and the pipe that it inherited, and change the
modes of its user's files. It cannot open, rename or remove files, reach the network, start processes or
signal others, and it ends with its parent.

Each restriction holds by itself, so a system that lacks one (Landlock is in Linux since 5.13) still has
the others. Left out: namespaces, which many hosts forbid and which open more of the kernel than they
close, and a list of system calls, which would differ from processor to processor.
"""

import ctypes
import os
import resource
from contextlib import suppress
from dataclasses import dataclass

from jobs.subprocesses import linux

# The same numbers on every processor.
LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF = 444, 446
LANDLOCK_CREATE_RULESET_VERSION = 1
# The number of file access rights of each Landlock version; later versions have as many as the last.
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
TCP_SINCE, TCP_RIGHTS = 4, 0b11
SCOPES_SINCE, SCOPES = 6, 0b11  # abstract sockets, and signals to others


@dataclass(frozen=True, slots=True)
class Limits:
    memory: int  # bytes of private data; programs and libraries come on top
    cpu_seconds: int
    output: int  # bytes of the largest file


def confine(limits: Limits) -> None:
    """Irreversible. Everything that will be needed must already be imported and open."""
    linux.prefer_as_oom_victim()
    linux.forbid_new_privileges()
    with suppress(OSError):
        _forbid_paths()
    linux.lower_limit(resource.RLIMIT_CORE, 0)
    # SIGXCPU at the soft limit, SIGKILL at the hard one.
    linux.lower_limit(resource.RLIMIT_CPU, limits.cpu_seconds, grace=5)
    linux.lower_limit(resource.RLIMIT_FSIZE, limits.output)
    linux.lower_limit(resource.RLIMIT_DATA, limits.memory)
    # No new descriptors: without one there is no file and no socket.
    linux.lower_limit(resource.RLIMIT_NOFILE, 0)
    if hasattr(resource, "RLIMIT_NPROC"):
        linux.lower_limit(resource.RLIMIT_NPROC, 0)  # no process, and no thread


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64)]


def _forbid_paths() -> None:
    """A ruleset without rules forbids all it handles. RLIMIT_NOFILE is not enough: unlink needs none."""
    libc = linux.libc
    if libc is None:
        return
    version = libc.syscall(
        LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(LANDLOCK_CREATE_RULESET_VERSION)
    )
    if version < 1:
        return
    ruleset = _Ruleset(
        files=(1 << FILE_RIGHTS[min(version, max(FILE_RIGHTS))]) - 1,
        network=TCP_RIGHTS if version >= TCP_SINCE else 0,
        scopes=SCOPES if version >= SCOPES_SINCE else 0,
    )
    descriptor = libc.syscall(
        LANDLOCK_CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(ctypes.sizeof(ruleset)), 0
    )
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "Landlock made no ruleset")
    libc.syscall(LANDLOCK_RESTRICT_SELF, descriptor, 0)
    os.close(descriptor)
