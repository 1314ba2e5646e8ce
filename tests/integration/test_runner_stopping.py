"""Runs are stopped by a time limit or a cancel: softly first, then killed with all their processes."""

import time
from pathlib import Path

import pytest

from dure.failures import FailureType
from jobs import lifecycle
from jobs.answers import CancelResult
from jobs.models import Attempt
from jobs.sql import call
from jobs.states import ExecutionStatus, JobStatus
from tests.engine_workers import GRACE, SLOTS, ended, lines, outcomes, result, started
from tests.events import T, event_types
from tests.factories import a_job, an_office, fresh
from tests.unit.process_tools import is_alive
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)


def submit_task(task_id, **fields):
    return a_job(an_office(), task_id=task_id, **{"max_retries": 0, **fields})


def seconds_of(job):
    attempt = Attempt.objects.get(execution__job=job)
    return (attempt.ended_at - attempt.started_at).total_seconds()


def full_pool(worker):
    """The processes that run bodies, when each that died has been replaced."""
    eventually(lambda: len(worker.pool()) == SLOTS, what="a full pool")
    return set(worker.pool())


def cancel(job):
    return lifecycle.cancel(job.office_id, [job.id], actor="me")


def cancel_without_message(job):
    """Cancels in the database only: no worker is notified."""
    call.function("dure_cancel", job.office_id, [job.id], "{}")


def test_a_body_gets_an_exception_at_its_time_limit(worker):
    pool = full_pool(worker)
    job = ended(submit_task("demo.sleep", args={"seconds": 300}, timeout_ms=300))
    assert (job.status, job.failure_type) == (JobStatus.FAILED, FailureType.TIMEOUT)
    assert job.error_message == "Job execution timed out"
    assert outcomes(job) == [("timeout", "timeout")]
    assert full_pool(worker) == pool, "no process was killed"
    assert event_types(job)[-2:] == [T.JOB_TIMEOUT, T.JOB_FAILED]


def test_a_body_that_ignores_its_time_limit_is_killed_after_its_grace(worker, path):
    job = ended(submit_task("try.stubborn", args={"path": path}, timeout_ms=300))
    assert (job.status, job.failure_type) == (JobStatus.FAILED, FailureType.TIMEOUT)
    assert job.error_message == "Job execution timed out"
    assert outcomes(job) == [("timeout", "timeout")]
    assert seconds_of(job) >= GRACE
    eventually(lambda: not is_alive(int(lines(path)[0])), what="the end of its process")


def test_all_processes_of_a_body_are_killed_with_it(worker, path):
    began = time.monotonic()
    job = submit_task("try.family", args={"path": path}, timeout_ms=3_000)
    eventually(lambda: len(lines(path)) == 2, what="the family")
    family = [int(pid) for pid in lines(path)]
    # They may have been killed already if the test itself was held up beyond the time limit.
    assert all(is_alive(pid) for pid in family) or time.monotonic() > began + 3
    assert ended(job).failure_type == FailureType.TIMEOUT
    eventually(lambda: not any(is_alive(pid) for pid in family), what="the end of the family")


def test_processes_of_a_body_do_not_outlive_its_pool_process(worker, path):
    job = submit_task("try.family", args={"path": path, "outlive": True})
    eventually(lambda: len(lines(path)) >= 2, what="the family")
    family = [int(pid) for pid in lines(path)[:2]]
    eventually(lambda: not any(is_alive(pid) for pid in family), what="the end of the family")
    cancel(job)
    assert ended(job).status in (JobStatus.CANCELLED, JobStatus.FAILED)


def test_a_cancelled_body_is_asked_to_stop_and_on_cancel_is_called_once(worker, path):
    job = submit_task("try.cancellable", args={"path": path})
    eventually(lambda: lines(path), what="its start")
    pool = full_pool(worker)
    assert cancel(job) == CancelResult(0, 1)
    job = ended(job)
    assert (job.status, job.execution.status) == (JobStatus.CANCELLED, ExecutionStatus.CANCELLED)
    assert full_pool(worker) == pool, "no process was killed"
    assert outcomes(job) == [("cancelled", "cancelled")]
    eventually(lambda: lines(path + ".cancelled"), what="its on_cancel")
    assert lines(path + ".cancelled") == [str(job.execution_id)]
    assert event_types(job)[-1] == T.JOB_CANCELLED


def test_a_cancelled_body_that_does_not_stop_is_killed_after_its_grace(worker, path):
    job = submit_task("try.stubborn", args={"path": path})
    eventually(lambda: lines(path), what="its start")
    cancel(job)
    job = ended(job)
    assert (job.status, outcomes(job)) == (JobStatus.CANCELLED, [("cancelled", "cancelled")])
    eventually(lambda: not is_alive(int(lines(path)[0])), what="the end of its process")


def test_the_on_cancel_callback_is_called_for_a_killed_run(worker, path):
    job = submit_task("try.ignore_cancel", args={"path": path})
    eventually(lambda: lines(path), what="its start")
    cancel(job)
    assert ended(job).status == JobStatus.CANCELLED
    eventually(lambda: lines(path + ".cancelled"), what="its on_cancel")
    assert lines(path + ".cancelled") == [str(fresh(job).execution_id)]


@pytest.mark.parametrize("task_id", ["try.cancellable", "try.stubborn"])
def test_a_worker_that_missed_a_cancel_learns_of_it_from_its_heartbeat(worker, path, task_id):
    job = submit_task(task_id, args={"path": path})
    eventually(lambda: lines(path), what="its start")
    cancel_without_message(job)
    job = ended(job)
    assert (job.status, outcomes(job)) == (JobStatus.CANCELLED, [("cancelled", "cancelled")])


def test_a_result_after_the_cancel_is_dropped(worker, path):
    job = submit_task("try.stubborn", args={"path": path, "gives_in": True})
    eventually(lambda: lines(path), what="its start")
    cancel(job)
    job = ended(job)
    assert (job.status, result(job)) == (JobStatus.CANCELLED, None)
    assert T.JOB_COMPLETED not in event_types(job)


def test_a_cancel_stops_no_other_run(worker, path):
    doomed = submit_task("try.cancellable", args={"path": path})
    end = path + ".end"
    other = started(submit_task("try.until", args={"path": end}))
    eventually(lambda: lines(path), what="its start")
    cancel(doomed)
    assert ended(doomed).status == JobStatus.CANCELLED
    follower = submit_task("demo.sleep", args={"seconds": GRACE + 1})
    assert ended(follower).status == JobStatus.DONE
    Path(end).touch()
    assert ended(other).status == JobStatus.DONE
    assert outcomes(other) == outcomes(follower) == [("success", "")]
