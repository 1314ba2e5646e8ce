"""Collects what a body logs and prints.

    with capture.output_of(claim):
        task.call(...)

`logging` comes by a handler of the root logger, `print` by `sys.stdout` and `sys.stderr`, and what programs
and libraries print by the file descriptors 1 and 2.
"""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from dure.log_records import text_of
from jobs.answers import Claim
from jobs.run_logs import current, streams
from jobs.run_logs.buffer import RunLog
from jobs.run_logs.lines import LOG
from jobs.run_logs.programs import ProgramOutput
from jobs.run_logs.records import clean_message
from jobs.run_logs.writer import Writer

_writer = Writer()
_output: ProgramOutput | None = None


class RunLogHandler(logging.Handler):
    """Gives the records of a body to its log."""

    def createLock(self) -> None:  # noqa: N802 (the standard library's name)
        self.lock = None  # the log has its own

    def handle(self, record: logging.LogRecord) -> bool:
        """Without filters and a lock, which would cost each line half as much again."""
        log = current.log_of_this_thread()
        if log is None:
            return False
        message = clean_message(record)
        if message is not None:
            log.add_clean(record.created, record.levelno, LOG, record.name, message)
            return True
        try:
            message = text_of(record)
        except Exception:
            self.handleError(record)
        else:
            log.add(record.levelno, LOG, record.name, [message], at=record.created)
        return True


_handler = RunLogHandler()


@contextmanager
def output_of(claim: Claim) -> Iterator[None]:
    """Keep what is logged and printed until the end of the block, and write it by then."""
    # Only a main thread has the process for itself.
    if not settings.DURE_RUN_LOG_BYTES or threading.current_thread() is not threading.main_thread():
        yield
        return
    output = _prepare_process()
    log = RunLog(claim, settings.DURE_RUN_LOG_BYTES, _writer.notify)
    with current.active(log):
        output.begin()
        before = streams.replace_streams()
        try:
            yield
        finally:
            if not current.is_forked():
                # A time limit may interrupt each of these.
                try:
                    streams.restore_streams(before)
                    output.end()
                finally:
                    _writer.finish(log)
                    log.close()


def _prepare_process() -> ProgramOutput:
    global _output  # noqa: PLW0603 (one in a process)
    if _output is None:
        _output = ProgramOutput()
    if _handler not in logging.root.handlers:  # a body may have configured logging
        logging.root.addHandler(_handler)
    return _output


def _after_fork() -> None:
    """Threads do not survive a fork."""
    global _writer, _output
    _writer, _output = Writer(), None


os.register_at_fork(after_in_child=_after_fork)
