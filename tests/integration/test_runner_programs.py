"""No program that a body has started outlives its run.

The programs of `try.programs` change their sessions, lose their parents and clear their environment.
"""

import os
import signal
from pathlib import Path

import pytest

from jobs.states import JobStatus
from jobs.subprocesses import marks
from tests.engine_workers import LEASE, ended, lines, outcomes
from tests.factories import a_job, an_office
from tests.programs import (
    expect_the_end,
    running_programs,
    submit_programs,
    successor_of,
    watchdog_of,
    watchdogs_of,
)
from tests.unit.process_tools import is_alive
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)


def test_programs_end_with_a_run_that_ends(worker, path):
    assert ended(submit_programs(path)).status == JobStatus.DONE
    expect_the_end([int(line) for line in lines(path)])


def test_programs_end_with_a_pool_process_that_is_killed(worker, path):
    end = path + ".end"
    job = submit_programs(path, until=end)
    pids = running_programs(path)
    parents = [pid for pid in worker.pool() if set(pids) & set(children(pid))]
    assert len(parents) == 1
    os.kill(parents[0], signal.SIGKILL)
    expect_the_end(pids)
    Path(end).touch()
    assert ended(job)


def test_programs_and_pool_processes_end_with_a_worker_that_is_frozen_past_its_lease(worker, path):
    never = path + ".never"
    submit_programs(path, until=never)
    pids = running_programs(path)
    pool = worker.pool()
    os.kill(worker.process.pid, signal.SIGSTOP)
    try:
        expect_the_end([*pids, *pool])
    finally:
        os.kill(worker.process.pid, signal.SIGCONT)
        Path(never).touch()
    assert ended(a_job(an_office(), task_id="try.echo", args={})).status == JobStatus.DONE


def test_the_successor_of_a_watchdog_takes_its_place(worker, path):
    watchdog = watchdog_of(worker)
    successor = successor_of(watchdog)
    job = a_job(an_office(), task_id="try.line", args={"path": path, "seconds": LEASE * 1.5})
    eventually(lambda: lines(path), what="its start")
    os.kill(watchdog, signal.SIGKILL)
    assert successor_of(successor) != watchdog
    assert watchdog_of(worker) == successor, "the worker starts no other one"
    assert ended(job).status == JobStatus.DONE
    assert outcomes(job) == [("success", "")], "it read until when the run may go on"


def test_a_watchdog_that_is_killed_with_its_successor_is_started_again(worker):
    killed = {watchdog_of(worker), successor_of(watchdog_of(worker))}
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    eventually(lambda: not any(map(is_alive, killed)), what="their end")
    eventually(lambda: set(watchdogs_of(worker)) - killed, what="another watchdog")


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def test_a_mark_names_one_worker_only():
    mark = marks.worker_mark(os.getpid())
    assert mark is not None and not marks.is_orphaned(mark)
    # The same id with another time of start: a process that got the id later.
    assert marks.is_orphaned(mark + (1 << marks.PID_BITS))
