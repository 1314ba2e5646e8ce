"""Outcomes of bodies on a real worker: results, failures, retries, and their own writes."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from dure.failures import FailureType
from jobs import lifecycle, publish, serialize
from jobs.models import Counter, Event
from jobs.publish import Send
from jobs.states import JobStatus
from tests.engine_workers import LEASE, ended, in_state, lines, outcomes, result, started
from tests.events import T, event_types
from tests.factories import a_job, an_office, fresh, submitted
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)


def submit_task(office=None, task_id="try.echo", **fields):
    return a_job(office or an_office(), task_id=task_id, **{"args": {}, **fields})


def delays(job):
    """The delay of each retry, in seconds."""
    events = Event.objects.filter(job_id=job.id, type=T.JOB_RETRYING).order_by("id")
    times = [(parse_datetime(event.details["retry_at"]), event.at) for event in events]
    return [round((due - at).total_seconds(), 3) for due, at in times if due is not None]


def through_its_retries(job):
    """Runs the job to its end, without waiting for retries."""

    def over():
        lifecycle.send_due(timezone.now() + timedelta(days=2))
        return fresh(job).status in (JobStatus.DONE, JobStatus.FAILED)

    eventually(over, pause=0.05, what=f"the end of {job.task_id} through its retries")
    return fresh(job)


def test_a_result_comes_back_as_it_was(worker):
    value = {"text": "두레 \\u0000 \U0001f600", "numbers": [1, 2.5, -3], "none": None, "deep": [[[{}]]]}
    job = ended(submit_task(args={"value": value}))
    assert (job.status, result(job)) == (JobStatus.DONE, value)
    assert job.execution.worker == "engine@test"
    assert event_types(job) == [T.JOB_READY, T.JOB_STARTED, T.JOB_COMPLETED]
    assert job.execution.started_at <= job.completed_at


def test_a_result_that_cannot_be_stored_fails_for_good_with_a_reason(worker):
    kinds = ("object", "nan", "nul", "large", "bytes", "half")
    office = an_office(max_concurrent_jobs=9)
    jobs = submitted(office, *[{"task_id": "try.odd_result", "args": {"kind": kind}} for kind in kinds])
    for kind, job in zip(kinds, jobs, strict=True):
        job = ended(job)
        assert (kind, job.status, job.failure_type) == (kind, JobStatus.FAILED, FailureType.INVALID_ARGS)
        assert "result" in job.error_message
        assert outcomes(job) == [("failure", "invalid_args")]


def test_retries_wait_by_the_jobs_own_base_and_strategy(worker):
    office = an_office(max_concurrent_jobs=9)
    doubling, adding, default, capped = submitted(
        office,
        *[
            {"task_id": "demo.fail", "args": {}, "max_retries": retries, **policy}
            for retries, policy in (
                (3, {"retry_backoff": "exponential", "retry_base_delay": 7_000}),
                (3, {"retry_backoff": "linear", "retry_base_delay": 7_000}),
                (2, {}),
                (4, {"retry_base_delay": 1_000_000}),
            )
        ],
    )
    for job in (doubling, adding, default, capped):
        assert through_its_retries(job).status == JobStatus.FAILED
    assert delays(doubling) == [7, 14, 28]
    assert delays(adding) == [7, 14, 21]
    assert delays(default) == [60, 120]
    assert delays(capped) == [1000, 2000, 3600, 3600]
    assert fresh(doubling).retry_count == 3
    assert outcomes(doubling) == [("failure", "error")] * 4


def test_jitter_takes_between_half_and_all_of_the_delay(worker):
    job = submit_task(task_id="try.jitter", max_retries=4)
    through_its_retries(job)
    for delay, whole in zip(delays(job), (100, 200, 400, 800), strict=True):
        assert whole / 2 <= delay <= whole
    assert delays(job) != [100, 200, 400, 800]


def test_a_failure_that_a_retry_would_not_help_is_final(worker):
    args = {"failure_type": "git_conflict", "message": "no"}
    job = ended(submit_task(task_id="demo.fail", args=args, max_retries=5))
    assert (job.status, job.failure_type, job.error_message) == (JobStatus.FAILED, "git_conflict", "no")
    assert outcomes(job) == [("failure", "git_conflict")]


def test_a_task_declares_which_exceptions_are_retried(worker):
    retried, other = (
        submit_task(task_id="try.picky", args={"kind": kind}) for kind in ("ValueError", "KeyError")
    )
    assert ended(other).error_message == "KeyError: 'as asked'"
    assert in_state(retried, JobStatus.PENDING).retry_at is not None


def test_a_failed_attempt_keeps_the_frames_of_its_body(worker):
    job = ended(submit_task(task_id="try.picky", args={"kind": "KeyError"}))
    (attempt,) = serialize.job_detail_json(job)["executions"][0]["attempts"]
    frames = [line for line in attempt["traceback"].splitlines() if line.startswith("  File ")]
    assert len(frames) == 1
    assert "engine_tasks.py" in frames[0]
    assert attempt["traceback"].endswith("KeyError: 'as asked'")


def test_each_attempt_has_its_number_and_the_same_key(worker, path):
    job = submit_task(task_id="try.flaky_line", args={"path": path, "failures": 2}, max_retries=2)
    assert through_its_retries(job).status == JobStatus.DONE
    execution = str(fresh(job).execution_id)
    assert lines(path) == [f"{execution} {n} {execution}" for n in (1, 2, 3)]


def test_a_body_that_calls_exit_fails_and_the_worker_stays(worker):
    before = worker.pool()
    job = ended(submit_task(task_id="try.exit", args={"code": 3}, max_retries=0))
    assert (job.status, job.error_message) == (JobStatus.FAILED, "The body called sys.exit(3).")
    assert worker.pool() == before


def test_a_run_shows_its_session_and_its_progress(worker, path):
    job = started(submit_task(task_id="try.until", args={"path": path, "session": "tmux-7"}))
    eventually(lambda: fresh(job).execution.progress, what="the progress")
    run = fresh(job).execution
    assert (run.progress, run.session_id) == ({"fraction": 0.25, "message": "waiting"}, "tmux-7")
    Path(path).touch()
    assert ended(job).status == JobStatus.DONE


def test_messages_that_come_twice_run_once(worker, path):
    office = an_office(max_concurrent_jobs=9)
    jobs = submitted(office, *[{"task_id": "try.line", "args": {"path": path, "seconds": 0.1}}] * 4)
    sends = [Send(str(job.execution_id), 1, "default", job.task_id, 0, 0) for job in jobs] * 5
    publish.send_messages(sends)
    assert {ended(job).status for job in jobs} == {JobStatus.DONE}
    publish.send_messages(sends)
    follower = ended(submit_task(office))
    assert sorted(line.split()[0] for line in lines(path)) == sorted(str(job.execution_id) for job in jobs)
    assert [event_types(job).count(T.JOB_STARTED) for job in [*jobs, follower]] == [1] * 5


def test_invalid_messages_are_dropped_and_the_worker_goes_on(worker):
    publish.send_messages([Send("00000000-0000-7000-8000-000000000000", 1, "default", "try.echo", 0, 0)])
    publish.send_messages([Send("not an id", 1, "default", "try.echo", 0, 0)])
    publish.send_messages([Send("not an id", 1, "default", "no.such.task", 0, 0)])
    assert ended(submit_task(args={"value": 1})).status == JobStatus.DONE


def test_the_writes_of_an_atomic_body_commit_with_its_result(worker):
    office = an_office()
    good = submit_task(office, "try.count", args={"name": "good"})
    bad = submit_task(office, "try.count", args={"name": "bad", "fail": True}, max_retries=0)
    assert (ended(good).status, ended(bad).status) == (JobStatus.DONE, JobStatus.FAILED)
    assert [counter.name for counter in Counter.objects.filter(name__in=("good", "bad"))] == ["good"]


def test_an_atomic_body_may_stay_idle_longer_than_other_transactions(worker):
    """The connection's own limit would end it after half a minute without a statement."""
    job = ended(submit_task(task_id="try.count", args={"name": "thinker"}))
    assert result(job) == "0"


def test_an_atomic_body_that_shows_progress_does_not_hold_up_its_own_lease(worker):
    office = an_office()
    long = submit_task(office, "try.count", args={"name": "long", "seconds": LEASE * 2})
    other = submit_task(office, "demo.sleep", args={"seconds": LEASE * 2})
    assert (ended(long).status, ended(other).status) == (JobStatus.DONE, JobStatus.DONE)
    assert outcomes(long) == outcomes(other) == [("success", "")]


def test_the_writes_of_an_atomic_body_that_lost_its_run_are_undone(worker, path):
    args = {"name": "loser", "path": path, "until": path + ".end"}
    job = submit_task(task_id="try.count", args=args)
    run = started(job).execution
    eventually(lambda: lines(path), what="the body's write")
    lifecycle.mark_lost(str(run.id), run.fence, trigger="JOB", expired=False, error="taken away by the test")
    Path(args["until"]).touch()
    assert ended(job).status == JobStatus.DONE
    # Only the second attempt's row is there; the first attempt lost its run.
    assert list(Counter.objects.filter(name="loser").values_list("value", flat=True)) == [2]
    assert outcomes(job) == [("lost", "worker_lost"), ("success", "")]


def test_the_writes_of_an_atomic_body_that_was_cancelled_are_undone(worker, path):
    job = submit_task(task_id="try.count_stubbornly", args={"name": "cancelled", "path": path})
    eventually(lambda: lines(path), what="the body's write")
    lifecycle.cancel(job.office_id, [job.id], actor="me")
    assert ended(job).status == JobStatus.CANCELLED
    assert not Counter.objects.filter(name="cancelled").exists()
    assert outcomes(job) == [("cancelled", "cancelled")]
