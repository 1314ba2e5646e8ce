"""A watchdog whose worker is alive, and late."""

import os
import signal
import time

import pytest

from jobs.subprocesses import marks, orphans
from jobs.subprocesses.watchdog import CHECK_SECONDS, boot_time
from tests.unit.process_tools import is_alive
from tests.workers import eventually

LONG = 3_600.0


@pytest.fixture
def fork():
    """Forks a process with the mark of this one, as a worker forks its pool processes."""
    mark = marks.worker_mark(os.getpid())
    assert mark is not None
    forked = []

    def start() -> int:
        pid = os.fork()
        if pid == 0:
            marks.set_mark(mark)
            signal.pause()
        forked.append(pid)
        # The watchdog knows no process without a mark.
        eventually(lambda: marks.read_mark(pid) == mark, what="the mark")
        return pid

    yield start
    for pid in forked:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_a_process_that_starts_after_the_others_were_ended_has_its_time(fork):
    """Its lease begins now. A worker whose database hangs would start processes only to lose them."""
    watchdog = orphans.Watchdog()
    early = fork()
    watchdog.allow_until(boot_time() - 1, LONG)
    eventually(lambda: not is_alive(early), what="the end of what was late")
    later = fork()
    time.sleep(3 * CHECK_SECONDS)
    assert is_alive(later)
    watchdog.allow_until(boot_time() - 1, LONG)
    eventually(lambda: not is_alive(later), what="the end of the other")
    os.kill(watchdog._pid, signal.SIGKILL)
    os.waitpid(watchdog._pid, 0)
