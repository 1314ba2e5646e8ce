"""Writes the lines of runs to the database: in batches while a body runs, and the rest at its end.

A thread writes the batches; it begins with the first line of a process. Its connection is opened when a body
has run for a while, and closed when nothing is logged any more. The rest of a short run goes through the
run's own connection.
"""

import logging
import threading
import time
from collections import deque

from django.db import DatabaseError, InterfaceError, connection

from jobs import deadline, pubsub
from jobs.run_logs import current
from jobs.run_logs.buffer import RunLog
from jobs.run_logs.lines import Chunk, chunks
from jobs.sql import call, run_logs

log = logging.getLogger(__name__)

FLUSH_SECONDS = 0.3
IDLE_FLUSHES = 20
# The end of an atomic run waits this long for its last lines, which must not be part of its transaction.
LAST_LINES_SECONDS = 10.0
DATABASE_ERRORS = (DatabaseError, InterfaceError)


def write(run: RunLog) -> bool:
    """Write what waits, on this thread's connection. False: the caller does not own the run any more."""
    with run.writing:
        batch = run.take()
        if not batch.lines:
            return True
        try:
            is_owner = _write_chunks(run, list(chunks(run.claim.attempt, *batch)))
        except BaseException:
            run.put_back(batch)
            raise
        if not is_owner:
            run.close()
        return is_owner


def _write_chunks(run: RunLog, batch: list[Chunk]) -> bool:
    kept = [*run.stored, *batch]
    size = sum(chunk.size for chunk in kept)
    cut: list[Chunk] = []
    while size > run.limit and len(kept) > 1:
        cut.append(kept.pop(0))
        size -= cut[-1].size
    new = [chunk for chunk in batch if chunk not in cut]
    stored_before = [chunk for chunk in cut if chunk not in batch]
    values = {
        "execution": run.claim.execution_id,
        "fence": run.claim.fence,
        "last": [chunk.last for chunk in new],
        "first": [chunk.first for chunk in new],
        "level": [chunk.level for chunk in new],
        "size": [chunk.size for chunk in new],
        "lines": [chunk.text for chunk in new],
        "cut_from": stored_before[0].last if stored_before else 0,
        "cut_to": stored_before[-1].last if stored_before else 0,
    }
    is_owner = bool(call.rows(run_logs.WRITE, values))
    run.stored = deque(chunk._replace(text="") for chunk in kept)
    return is_owner


class Writer:
    """The thread of a process."""

    def __init__(self) -> None:
        self._is_awake = False
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._written: deque[str] = deque()
        self._last_lines: tuple[RunLog, threading.Event] | None = None

    def notify(self, at_once: bool = False) -> None:
        """There are lines: write them soon, or at once."""
        if not self._is_awake:
            self._is_awake = True
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="run log", daemon=True)
                self._thread.start()
            else:
                self._wake.set()
        if at_once:
            self._wake.set()

    def finish(self, run: RunLog) -> None:
        """Write the last lines of a run. It ends without them when the database does not take them."""
        run.end_lines()
        if run.is_silent:
            return
        with run.writing:  # what the thread is writing must be there before the run ends
            if run.is_empty:
                return
        try:
            if connection.in_atomic_block:
                self._wait_for_last_lines(run)
            else:
                self._write_on_own_connection(run)
        except DATABASE_ERRORS as error:
            log.warning("the last lines of a run's log could not be written: %s", str(error).strip())
        self._announce(run)

    def _write_on_own_connection(self, run: RunLog) -> None:
        try:
            write(run)
        except DATABASE_ERRORS:
            # The server may have closed the connection while the body ran.
            connection.close()
            write(run)

    def _wait_for_last_lines(self, run: RunLog) -> None:
        done = threading.Event()
        self._last_lines = (run, done)
        self.notify()
        self._wake.set()
        if not done.wait(LAST_LINES_SECONDS):
            log.warning("the last lines of a run's log were not written in time")

    def _announce(self, run: RunLog) -> None:
        """Have the thread tell the listeners."""
        self._written.append(run.claim.execution_id)
        self.notify()

    # --- the thread ------------------------------------------------------------------------------

    def _run(self) -> None:
        current.leave_runs()
        deadline.leave_signals_to_main_thread()
        idle = 0
        while True:
            if idle > IDLE_FLUSHES:
                connection.close()
                self._sleep()
                idle = 0
            self._wait()
            try:
                idle = 0 if self._flush() else idle + 1
            except DATABASE_ERRORS as error:
                log.warning("the log of a run could not be written yet: %s", str(error).strip())
                connection.close()
                time.sleep(FLUSH_SECONDS)
            except Exception:
                log.exception("the log of a run could not be written")

    def _sleep(self) -> None:
        """Until the next line."""
        self._is_awake = False
        if not self._has_work():
            self._wake.wait()
        self._wake.clear()
        self._is_awake = True

    def _has_work(self) -> bool:
        run = current.active_log()
        return bool(self._written or self._last_lines or (run is not None and not run.is_empty))

    def _wait(self) -> None:
        """Until the next flush; the end of an atomic run does not wait for it."""
        if self._last_lines is None:
            self._wake.wait(FLUSH_SECONDS)
        self._wake.clear()

    def _flush(self) -> bool:
        """Write what waits, and tell the listeners. Whether there was anything."""
        run = current.active_log()
        if self._last_lines is not None:
            self._flush_last_lines(*self._last_lines)
        elif run is not None and not run.is_empty:
            run.end_lines(FLUSH_SECONDS)
            if run.has_lines:
                write(run)
                self._written.append(run.claim.execution_id)
        elif not self._written:
            return False
        channels = {self._written.popleft() for _ in range(len(self._written))}
        if channels:
            pubsub.publish_to([pubsub.RUN_LOG_CHANNEL.format(execution) for execution in channels])
        return True

    def _flush_last_lines(self, run: RunLog, done: threading.Event) -> None:
        self._last_lines = None
        try:
            write(run)
        finally:
            done.set()
