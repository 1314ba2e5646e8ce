"""The run to which a thread's lines belong.

The thread of the body belongs to its run, and so does a thread that the body starts. A thread of an earlier
run that still lives belongs to none: its lines must not appear in the log of another tenant.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from jobs.run_logs.buffer import RunLog

# Also in code that runs in a copy of the body's context, such as asyncio.to_thread.
_log: ContextVar[RunLog | None] = ContextVar("run log", default=None)
_outside: ContextVar[bool] = ContextVar("outside of runs", default=False)
_active: RunLog | None = None
_older_threads: frozenset[threading.Thread] = frozenset()
_is_forked = False


def _after_fork() -> None:
    global _is_forked  # noqa: PLW0603 (the state of this process)
    _is_forked = True


os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def active(log: RunLog) -> Iterator[None]:
    """The run of this process until the end of the block."""
    global _active, _older_threads, _is_forked  # noqa: PLW0603
    _is_forked = False
    _older_threads = frozenset(threading.enumerate())
    _active = log
    token = _log.set(log)
    try:
        yield
    finally:
        _active = None
        _log.reset(token)


def active_log() -> RunLog | None:
    """The run of this process, whichever thread asks."""
    return None if _is_forked else _active


def log_of_this_thread() -> RunLog | None:
    if _is_forked or _outside.get():
        return None
    log = _log.get()
    if log is None and _active is not None and threading.current_thread() not in _older_threads:
        log = _active
    return None if log is None or log.closed else log


def is_forked() -> bool:
    """Whether a body has forked this process: nothing is written from its memory."""
    return _is_forked


def leave_runs() -> None:
    """This thread serves all runs of the process, and its own lines belong to none."""
    _outside.set(True)
