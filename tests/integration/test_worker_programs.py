"""Programs that a body has started end with their worker, however it ends."""

import os
import signal

import pytest

from jobs import lifecycle, redis
from tests.engine_workers import LEASE, ending_what_runs, start
from tests.programs import expect_the_end, running_programs, submit_programs, successor_of, watchdog_of
from tests.workers import eventually

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
        successor = successor_of(watchdog)
        leaving.process.signal(signal.SIGQUIT)
        assert leaving.process.wait() == 0
        # No other worker is there to take the run's next message.
        redis.client().flushdb()
        expect_the_end([*pids, watchdog, successor])


def test_programs_end_when_a_worker_is_killed_with_its_watchdog(path, tmp_path):
    with start(tmp_path, name="alone", control=False) as alone, ending_what_runs():
        job = submit_programs(path, until=path + ".never")
        pids = running_programs(path)
        watchdog = watchdog_of(alone)
        successor = successor_of(watchdog)
        for pid in [watchdog, alone.process.pid, *alone.pool()]:
            os.kill(pid, signal.SIGKILL)
        expect_the_end([*pids, successor])
        # No other worker is there to take a message.
        eventually(lifecycle.rescue, LEASE + 10, what="the rescue")
        lifecycle.cancel(job.office_id, [job.id], actor="me")
        redis.client().flushdb()


def test_programs_end_when_a_worker_is_killed_with_all_its_watchdogs_and_another_has_one(path, tmp_path):
    with start(tmp_path, name="victim") as victim, ending_what_runs():
        submit_programs(path, until=path + ".never")
        pids = running_programs(path)
        watchdog = watchdog_of(victim)
        for pid in [successor_of(watchdog), watchdog, victim.process.pid, *victim.pool()]:
            os.kill(pid, signal.SIGKILL)
        # The other one is the control worker.
        expect_the_end(pids)
