"""What programs, forks and libraries print: the file descriptors 1 and 2 of the process while a body runs.

They are the ends of two pipes, made once for each process and read by one thread. A pool process ends all
programs of a run with it, so nothing of one run comes out during the next.
"""

import codecs
import logging
import os
import select
import sys
import threading
from typing import Any

from jobs import deadline
from jobs.run_logs import current
from jobs.run_logs.lines import STDERR, STDOUT
from jobs.run_logs.streams import DESCRIPTORS
from jobs.subprocesses import linux

READ_BYTES = 64 * 1024


class Pipe:
    """One stream: while a body runs, its descriptor leads into the pipe."""

    def __init__(self, stream: str) -> None:
        self.stream = stream
        self.number = DESCRIPTORS[stream]
        self.reader, self.writer = os.pipe()
        self.before = os.dup(self.number)
        os.set_blocking(self.reader, False)
        self.decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def begin(self) -> None:
        self.decoder.reset()
        os.dup2(self.writer, self.number)

    def end(self) -> None:
        os.dup2(self.before, self.number)

    def collect(self) -> None:
        """Give what there is to the run."""
        while data := self._read():
            text = self.decoder.decode(data)
            if (log := current.active_log()) is not None:
                log.print(self.stream, text, program=True)

    def _read(self) -> bytes:
        try:
            return os.read(self.reader, READ_BYTES)
        except BlockingIOError:
            return b""


class ProgramOutput:
    """The two pipes of a process and their thread."""

    def __init__(self) -> None:
        # Held while something is read, until its run has it.
        self._lock = threading.RLock()
        self._pipes = [Pipe(STDOUT), Pipe(STDERR)]
        self._poller = self._new_poller()
        self._keep_logs_out()
        threading.Thread(target=self._follow, name="run output", daemon=True).start()

    def begin(self) -> None:
        with self._lock:
            self._collect()  # of something that outlived an earlier run
            for pipe in self._pipes:
                pipe.begin()

    def end(self) -> None:
        """The descriptors lead to where they led before, and all that was printed is in the run's log."""
        for stream in (sys.__stdout__, sys.__stderr__):
            if stream is not None and not stream.closed:
                stream.flush()
        if linux.libc is not None:
            linux.libc.fflush(None)
        with self._lock:
            for pipe in self._pipes:
                pipe.end()
            self._collect()

    def _collect(self) -> None:
        """One system call if there is nothing."""
        if self._poller.poll(0):
            for pipe in self._pipes:
                pipe.collect()

    def _follow(self) -> None:
        current.leave_runs()
        deadline.leave_signals_to_main_thread()
        poller = self._new_poller()
        while True:
            poller.poll()
            with self._lock:
                self._collect()

    def _new_poller(self) -> select.poll:
        """A thread needs its own."""
        poller = select.poll()
        for pipe in self._pipes:
            poller.register(pipe.reader, select.POLLIN)
        return poller

    def _keep_logs_out(self) -> None:
        """The worker's own log goes where it went before, also while a body runs."""
        for handler in all_handlers():
            for pipe in self._pipes:
                if (
                    isinstance(handler, logging.StreamHandler)
                    and descriptor_of(handler.stream) == pipe.number
                ):
                    handler.setStream(
                        os.fdopen(
                            pipe.before, "w", encoding="utf-8", errors="backslashreplace", closefd=False
                        )
                    )


def all_handlers() -> list[logging.Handler]:
    loggers = [logging.root, *logging.root.manager.loggerDict.values()]
    return [
        handler for logger in loggers if isinstance(logger, logging.Logger) for handler in logger.handlers
    ]


def descriptor_of(stream: Any) -> int | None:
    try:
        return int(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return None
