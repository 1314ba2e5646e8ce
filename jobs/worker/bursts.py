"""What the main process and its pool processes tell each other about bursts: see jobs/burst.py.

The main process says which roles the worker serves, with each message, and when it takes nothing new, in
memory that all of them share. There a pool process also writes what it has found waiting, for the others. It
says through a pipe which run follows which, for Celery's events and `inspect active`. Nothing else depends on
it, so what does not fit into the pipe is lost.
"""

import ctypes
import json
import logging
import mmap
import os
from typing import Any, ClassVar

from celery import signals
from celery.worker import state as worker_state

log = logging.getLogger(__name__)

# The header in which the main process names the roles.
ROLES = "dure_roles"
LONGEST = 4_000  # what a pipe takes at once
READ_BYTES = 65_536


class Shared(ctypes.Structure):
    """The memory that a worker shares with its pool processes. All zero at first."""

    _fields_: ClassVar[list[tuple[str, type]]] = [
        ("is_stopped", ctypes.c_bool),
        # The last look: see jobs/burst.py.
        ("looked_at", ctypes.c_double),
        ("most_urgent", ctypes.c_uint8),
        ("lacks_tasks", ctypes.c_bool),
    ]


def new_memory() -> Shared:
    return Shared.from_buffer(mmap.mmap(-1, ctypes.sizeof(Shared)))


shared = new_memory()
_reads = _writes = -1
_rest = b""


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
        hub.add_reader(_reads, read)


def read(*_: Any) -> None:
    global _rest
    try:
        data = _rest + os.read(_reads, READ_BYTES)
    except BlockingIOError:
        return
    *lines, _rest = data.split(b"\n")
    for line in lines:
        message, end, following = json.loads(line)
        request = worker_state.requests.get(message)
        if request is not None and hasattr(request, "follow"):
            request.follow(end, following)


# --- in a pool process -----------------------------------------------------------------------------


def report_next_run(message: str, end: dict[str, Any], following: dict[str, Any]) -> None:
    line = json.dumps([message, end, following], separators=(",", ":")).encode() + b"\n"
    if _writes < 0 or len(line) > LONGEST:
        return
    try:
        os.write(_writes, line)
    except (BlockingIOError, BrokenPipeError):
        log.debug("the main process does not read which run follows")
