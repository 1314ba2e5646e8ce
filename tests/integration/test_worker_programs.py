"""Programs that a body has started end with their worker, however it ends."""

import os
import signal

import pytest

from jobs import redis
from tests.engine_workers import ending_what_runs, start
from tests.programs import expect_the_end, running_programs, submit_programs, watchdog_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_programs_end_with_a_worker_that_is_killed_with_its_pool(path, tmp_path):
    with start(tmp_path, name="victim") as victim, ending_what_runs():
        submit_programs(path, until=path + ".never")
        pids = running_programs(path)
        for pid in [victim.process.pid, *victim.pool()]:
            os.kill(pid, signal.SIGKILL)
        expect_the_end(pids)


def test_programs_end_with_a_worker_that_is_stopped(path, tmp_path):
    with start(tmp_path, name="leaving") as leaving, ending_what_runs():
        submit_programs(path, until=path + ".never")
        pids = running_programs(path)
        watchdog = watchdog_of(leaving)
        leaving.process.signal(signal.SIGQUIT)
        assert leaving.process.popen.wait(60) == 0
        # No other worker is there to take the run's next message.
        redis.client().flushdb()
        expect_the_end([*pids, watchdog])


def test_programs_end_when_a_worker_is_killed_with_its_watchdog_and_another_has_one(path, tmp_path):
    with start(tmp_path, name="victim") as victim, ending_what_runs():
        submit_programs(path, until=path + ".never")
        pids = running_programs(path)
        for pid in [watchdog_of(victim), victim.process.pid, *victim.pool()]:
            os.kill(pid, signal.SIGKILL)
        # The other one is the control worker.
        expect_the_end(pids)
