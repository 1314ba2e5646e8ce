"""Runs of killed and frozen processes start again, and a process that wakes too late changes nothing."""

import os
import signal
import time
from pathlib import Path

import pytest
from django.utils import timezone

from dure.failures import FailureType
from jobs import lifecycle, sweeps
from jobs.models import Attempt, Execution, Worker
from jobs.states import ExecutionStatus, JobStatus
from tests.engine_workers import (
    LEASE,
    SLOTS,
    ended,
    ending_what_runs,
    lines,
    outcomes,
    result,
    start,
    started,
)
from tests.events import T, event_types
from tests.factories import a_job, an_office, fresh, submitted
from tests.task_events import task_events
from tests.unit.process_tools import is_alive
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)


def submit_task(task_id, **fields):
    return a_job(an_office(), task_id=task_id, **fields)


def test_the_run_of_a_dead_pool_process_starts_again_without_a_sweep(worker, path):
    job = submit_task("try.die", args={"path": path, "lives": 1})
    # Nothing rescues here: without its worker's report the run would never end.
    assert ended(job).status == JobStatus.DONE
    assert (result(job), lines(path)) == (2, ["1", "2"])
    assert outcomes(job) == [("lost", "worker_lost"), ("success", "")]
    assert fresh(job).retry_count == 0, "a crash is not charged as a retry"
    assert event_types(job)[2:] == [T.JOB_RETRYING, T.JOB_STARTED, T.JOB_COMPLETED]


def test_a_body_that_kills_its_processes_is_poison_after_three(worker, path):
    job = ended(submit_task("try.die", args={"path": path}))
    assert (job.status, job.failure_type) == (JobStatus.FAILED, FailureType.POISON)
    assert lines(path) == ["1", "2", "3"]
    assert ended(submit_task("try.echo", args={})).status == JobStatus.DONE


def test_a_frozen_worker_changes_nothing_after_its_run_was_reassigned(worker, path):
    job = submit_task("try.until", args={"path": path})
    run = started(job).execution
    pids = [worker.process.pid, *worker.pool()]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        eventually(lifecycle.rescue, what="the rescue")
        taken = Execution.objects.get(id=run.id)
        # Meanwhile the test acts as another worker, from claim to result.
        row = lifecycle.claim(str(run.id), taken.dispatch, token="the other", worker="other@test")
        assert row is not None
        lifecycle.finish(str(run.id), row.fence, "success", trigger="JOB", result='"the winner"')
    finally:
        Path(path).touch()
        for pid in reversed(pids):
            os.kill(pid, signal.SIGCONT)
    follower = ended(submit_task("try.line", args={"path": path, "seconds": 1.5}))
    assert follower.status == JobStatus.DONE
    assert (fresh(job).status, result(job)) == (JobStatus.DONE, "the winner")
    assert outcomes(job) == [("lost", "worker_lost"), ("success", "")]
    assert event_types(job).count(T.JOB_COMPLETED) == 1


def test_a_frozen_pool_process_keeps_its_run_as_long_as_its_worker_renews(worker, path):
    job = submit_task("try.line", args={"path": path, "seconds": 0.3})
    eventually(lambda: lines(path), what="its start")
    pids = worker.pool()
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        until = time.monotonic() + LEASE * 1.5
        while time.monotonic() < until:
            assert lifecycle.rescue() == 0
            time.sleep(0.1)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    assert ended(job).status == JobStatus.DONE
    assert outcomes(job) == [("success", "")]


def test_the_work_of_a_killed_worker_starts_again_within_its_lease_and_ten_seconds(
    worker, path, tmp_path, settings
):
    settings.DURE_REPUBLISH_SECONDS = 1.0
    office = an_office(max_concurrent_jobs=9)
    with start(tmp_path, name="victim", control=False) as victim, ending_what_runs():
        # As many jobs as slots: the killed worker has half of them.
        jobs = submitted(office, *[{"task_id": "try.until", "args": {"path": path}}] * 2 * SLOTS)
        where = [started(job).execution.worker for job in jobs]
        lost = [job for job, name in zip(jobs, where, strict=True) if name == "victim@test"]
        pool = victim.pool()
        victim.process.kill()
        died = timezone.now()
        Path(path).touch()

        def over():
            sweeps.sweep_once()
            return all(fresh(job).status == JobStatus.DONE for job in jobs)

        eventually(over, pause=0.2, what="the end of what was lost")
        assert len(lost) == SLOTS
        for job in lost:
            assert outcomes(job) == [("lost", "worker_lost"), ("success", "")]
            again = Attempt.objects.get(execution__job=job, number=2)
            assert (again.started_at - died).total_seconds() < LEASE + 10
        eventually(lambda: not any(is_alive(pid) for pid in pool), what="the end of the orphans")


def test_a_stopping_worker_finishes_its_runs_and_deregisters(worker, path, tmp_path):
    office = an_office(max_concurrent_jobs=9)
    with start(tmp_path, name="leaving", control=False) as leaving, ending_what_runs():
        args = {"path": path, "until": path + ".end"}
        jobs = submitted(office, *[{"task_id": "try.line", "args": args}] * 2 * SLOTS)
        where = [started(job).execution.worker for job in jobs]
        leaving.process.signal(signal.SIGTERM)
        leaving.process.wait_for_line("Warm shutdown")
        Path(args["until"]).touch()
        assert [ended(job).status for job in jobs] == [JobStatus.DONE] * 2 * SLOTS
        assert where.count("leaving@test") == SLOTS
        assert len(lines(path)) == 2 * SLOTS, "none was started twice"
        assert leaving.process.wait() == 0
        assert not Worker.objects.filter(name="leaving@test").exists()


@pytest.mark.parametrize("ends", ["before the worker stops", "while the worker waits for it"])
def test_the_events_of_the_last_run_of_a_stopping_worker_are_sent(transactional_db, path, tmp_path, ends):
    # A role of its own: the worker of the other tests is there too, and must not take the job.
    with (
        start(tmp_path, name="leaving", control=False, roles="leaving") as leaving,
        task_events("leaving@test") as events,
    ):
        job = submit_task("try.until", args={"path": path}, role="leaving")
        started(job)
        if ends == "before the worker stops":
            Path(path).touch()
            eventually(lambda: fresh(job).status == JobStatus.DONE, pause=0.001, what="the end of the job")
        leaving.process.signal(signal.SIGTERM)
        leaving.process.wait_for_line("Warm shutdown")
        Path(path).touch()
        assert leaving.process.wait() == 0
        kinds = ["task-received", "task-started", "task-succeeded"]
        eventually(lambda: [kind for kind, _ in events] == kinds, what=f"its events, and not {events}")


def test_a_worker_that_may_not_wait_releases_its_runs_without_a_crash(worker, path, tmp_path):
    office = an_office(max_concurrent_jobs=9)
    with start(tmp_path, name="hurried", control=False) as hurried, ending_what_runs():
        jobs = submitted(office, *[{"task_id": "try.until", "args": {"path": path}}] * 2 * SLOTS)
        where = [started(job).execution.worker for job in jobs]
        # The Procfile's SIGTERM: the worker drains within its time, then exits.
        hurried.process.signal(signal.SIGQUIT)
        assert hurried.process.wait() == 0
        given_back = [job for job, name in zip(jobs, where, strict=True) if name == "hurried@test"]
        assert {fresh(job).execution.status for job in given_back} == {ExecutionStatus.PENDING}
        assert not Worker.objects.filter(name="hurried@test").exists()
        Path(path).touch()
        assert [ended(job).status for job in jobs] == [JobStatus.DONE] * 2 * SLOTS
        for job in given_back:
            assert outcomes(job) == [("lost", "worker_lost"), ("success", "")]
            assert (fresh(job).execution.crash_count, fresh(job).retry_count) == (0, 0)


def test_a_task_that_must_not_start_twice_does_not(worker, path):
    job = ended(submit_task("try.die_once", args={"path": path}))
    assert (job.status, job.failure_type) == (JobStatus.FAILED, FailureType.WORKER_LOST)
    assert lines(path) == ["1"]
