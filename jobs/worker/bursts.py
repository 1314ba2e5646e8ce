"""What the main process and its pool processes tell each other about bursts: see jobs/burst.py.

The main process says which roles the worker serves, with each message, and when it takes nothing new, in
memory that all of them share. There a pool process also writes what it has found waiting, and when it was
busy with short runs, for the others. It says through a pipe which run follows which, for Celery's events and
`inspect active`. Nothing else depends on it, so what does not fit into the pipe is lost.
"""

import ctypes
import json
import logging
import mmap
import os
from typing import Any, ClassVar

from billiard.process import current_process
from celery import signals
from celery.worker import state as worker_state

log = logging.getLogger(__name__)

# The header in which the main process names the roles.
ROLES = "dure_roles"
LONGEST = 4_000  # what a pipe takes at once
READ_BYTES = 65_536  # as much as a pipe holds
# For how long the main process lets them come in before it reads them.
READ_SECONDS = 0.02
# How many processes can tell when they were busy. Of more, two write to the same place.
PLACES = 64
# For how long a process counts as busy: longer than a short run takes. One that was killed, was frozen or is
# in a long body counts no more afterwards, so nothing has to be locked or cleaned up.
BUSY_SECONDS = 0.005


class Shared(ctypes.Structure):
    """The memory that a worker shares with its pool processes. All zero at first."""

    _fields_: ClassVar[list[tuple[str, type]]] = [
        ("is_stopped", ctypes.c_bool),
        # The last look: see jobs/burst.py.
        ("looked_at", ctypes.c_double),
        ("most_urgent", ctypes.c_uint8),
        ("lacks_tasks", ctypes.c_bool),
        # Whether the worker has, or has had, more processes than there are cores.
        ("exceeds_cores", ctypes.c_bool),
        # When each pool process was last busy with a short run, by the clock that all processes share; 0 if
        # its message has ended.
        ("busy_at", ctypes.c_double * PLACES),
    ]


def new_memory() -> Shared:
    return Shared.from_buffer(mmap.mmap(-1, ctypes.sizeof(Shared)))


shared = new_memory()
_reads = _writes = -1
_rest = b""
_place = 0  # of this process, in `busy_at`


# --- in the main process ---------------------------------------------------------------------------


@signals.worker_init.connect(weak=False)  # type: ignore[untyped-decorator]
def open_pipe(**_: Any) -> None:
    """Before the pool starts. The memory is of this worker alone: it may be forked from a process that others
    are forked from too.
    """
    global _reads, _writes, shared  # noqa: PLW0603 (one for the process)
    shared = new_memory()
    _reads, _writes = os.pipe()
    os.set_blocking(_reads, False)
    os.set_blocking(_writes, False)


@signals.worker_shutting_down.connect(weak=False)  # type: ignore[untyped-decorator]
def stop(**_: Any) -> None:
    """No run brings another from now on."""
    shared.is_stopped = True


def resume() -> None:
    shared.is_stopped = False


def register_with_event_loop(hub: Any) -> None:
    if _reads >= 0:
        hub.add_reader(_reads, _read_soon, hub)


def _read_soon(hub: Any) -> None:
    """Read what comes within a moment at once: to wake up for each run takes longer than to read of it."""
    hub.remove_reader(_reads)
    hub.call_later(READ_SECONDS, _read_on, hub)


def _read_on(hub: Any) -> None:
    read()
    register_with_event_loop(hub)


def read(own: Any = None) -> None:
    """Tell each request which run its process has gone on with: also `own`, which may have ended by now."""
    global _rest
    if _reads < 0:
        return
    try:
        data = _rest + os.read(_reads, READ_BYTES)
    except BlockingIOError:
        return
    *lines, _rest = data.split(b"\n")
    for line in lines:
        message, end, following = json.loads(line)
        is_own = own is not None and own.id == message
        request = own if is_own else worker_state.requests.get(message)
        if request is not None and hasattr(request, "follow"):
            request.follow(end, following)


# --- in a pool process -----------------------------------------------------------------------------


def take_place() -> None:
    """The pool gives a process the lowest free index: beyond the cores only if there are more processes."""
    global _place  # noqa: PLW0603 (one for the process)
    index = getattr(current_process(), "index", 0)
    _place = index % PLACES
    if index >= number_of_cores():
        shared.exceeds_cores = True


def number_of_cores() -> int:
    """Those that this process may use, which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0))


def note_busy(now: float) -> None:
    shared.busy_at[_place] = now


def forget_busy() -> None:
    shared.busy_at[_place] = 0


def count_busy(now: float) -> int:
    """How many processes are going through short runs."""
    limit = now - BUSY_SECONDS
    return len([at for at in shared.busy_at[:] if at > limit])


def report_next_run(message: str, end: dict[str, Any], following: dict[str, Any]) -> None:
    line = json.dumps([message, end, following], separators=(",", ":")).encode() + b"\n"
    if _writes < 0 or len(line) > LONGEST:
        return
    try:
        os.write(_writes, line)
    except (BlockingIOError, BrokenPipeError):
        log.debug("the main process does not read which run follows")
