"""finish: the owner's report ends the run or schedules a retry; other reports change nothing."""

import json
from datetime import timedelta

import pytest

from dure.failures import FailureType
from jobs import lifecycle
from jobs.api_model import iso_time
from jobs.models import Attempt, Event, Execution
from jobs.publish import Send
from jobs.serialize import event_json
from jobs.states import ExecutionStatus, JobStatus, Outcome, Trigger
from tests.events import T, batches_completed, details, event_types
from tests.factories import (
    a_job,
    an_office,
    claimed,
    claimed_start,
    done,
    expire_lease,
    fresh,
    running,
    running_start,
    submitted,
)

pytestmark = pytest.mark.django_db


def attempts(job):
    rows = Attempt.objects.filter(execution__job=job).order_by("execution_id", "number")
    return [(attempt.number, attempt.outcome, attempt.failure_type) for attempt in rows]


def test_a_success_ends_execution_and_job_together():
    job = a_job(an_office())
    run = claimed(job, worker="w@here", token="t1")
    run.finish(result=json.dumps({"sum": 3}))
    job = fresh(job)
    assert (job.status, job.failure_type, job.error_message) == (JobStatus.DONE, "", "")
    assert job.completed_at == job.execution.finished_at
    assert job.started_at == job.execution.started_at
    assert (job.execution.status, job.execution.result) == (ExecutionStatus.SUCCESS, {"sum": 3})
    assert job.execution.locked_until is None
    attempt = Attempt.objects.get(execution=job.execution)
    assert (attempt.number, attempt.outcome, attempt.worker, attempt.token) == (1, "success", "w@here", "t1")
    assert attempt.started_at <= attempt.ended_at
    assert event_types(job) == [T.JOB_READY, T.JOB_STARTED, T.JOB_COMPLETED]
    assert details(job, T.JOB_COMPLETED) == {"execution_id": run.execution, "attempt": 1, "fence": run.fence}


def test_each_attempt_keeps_its_session_and_its_time_limit():
    job = a_job(an_office())
    first = running(job)
    lifecycle.name_session(first.execution, first.fence, "s-1")
    limit = fresh(job).execution.timeout_at
    first.fail(delay_ms=0)
    lifecycle.advance_office(job.office_id)
    second = running(job, token="t2")
    assert fresh(job).execution.session_id == ""
    second.finish()
    rows = Attempt.objects.filter(execution__job=job).order_by("number")
    assert [row.session_id for row in rows] == ["s-1", ""]
    assert [row.timeout_at for row in rows] == [limit, fresh(job).execution.timeout_at]


def test_a_failure_without_another_attempt_is_final_and_says_why():
    job = a_job(an_office())
    claimed(job).fail("git_conflict", "Two edits of one line.")
    job = fresh(job)
    assert (job.status, job.failure_type, job.error_message) == (
        JobStatus.FAILED,
        "git_conflict",
        "Two edits of one line.",
    )
    assert attempts(job) == [(1, "failure", "git_conflict")]
    assert event_types(job)[-1] == T.JOB_FAILED
    assert details(job, T.JOB_FAILED)["error"] == "Two edits of one line."


def test_a_failure_with_a_delay_waits_for_its_time_and_holds_no_slot():
    office = an_office(max_concurrent_jobs=1)
    job, other = submitted(office, {}, {})
    claimed(job).fail(delay_ms=60_000)
    job = fresh(job)
    ended = Attempt.objects.get(execution=job.execution).ended_at
    assert (job.status, job.retry_count, job.failure_type) == (JobStatus.PENDING, 1, "error")
    assert job.retry_at == job.due_at == job.execution.due_at == ended + timedelta(seconds=60)
    assert (job.execution.status, job.execution.retry_count) == (ExecutionStatus.PENDING, 1)
    assert event_types(job) == [T.JOB_READY, T.JOB_STARTED, T.JOB_RETRYING]
    assert set(details(job, T.JOB_RETRYING)) == {
        "execution_id",
        "attempt",
        "fence",
        "failure_type",
        "error",
        "retry_at",
    }
    event = Event.objects.get(job_id=job.id, type=T.JOB_RETRYING)
    assert event_json(event)["details"]["retry_at"] == iso_time(job.retry_at)
    assert str(iso_time(job.retry_at)).endswith("+09:00")
    assert fresh(other).status == JobStatus.PROCESSING


def test_a_timeout_that_is_retried_has_its_own_state_and_two_events():
    job = a_job(an_office())
    claimed(job).finish(Outcome.TIMEOUT, failure_type=FailureType.TIMEOUT, error="too long", delay_ms=1_000)
    job = fresh(job)
    assert (job.status, job.execution.status) == (JobStatus.TIMEOUT, ExecutionStatus.PENDING)
    assert event_types(job)[-2:] == [T.JOB_TIMEOUT, T.JOB_RETRYING]


def test_the_last_timeout_fails_the_job_with_that_type():
    job = a_job(an_office(), max_retries=0)
    claimed(job).finish(Outcome.TIMEOUT, failure_type=FailureType.TIMEOUT, error="too long", delay_ms=1_000)
    job = fresh(job)
    assert (job.status, job.failure_type) == (JobStatus.FAILED, FailureType.TIMEOUT)
    assert attempts(job) == [(1, "timeout", "timeout")]
    assert event_types(job)[-2:] == [T.JOB_TIMEOUT, T.JOB_FAILED]


def test_retries_are_used_up_one_by_one():
    job = a_job(an_office(), max_retries=2)
    for turn in range(3):
        claimed(job, token=str(turn)).fail(delay_ms=0)
        lifecycle.advance_office(job.office_id)
    job = fresh(job)
    assert (job.status, job.retry_count, job.execution.attempt) == (JobStatus.FAILED, 2, 3)
    assert attempts(job) == [(n, "failure", "error") for n in (1, 2, 3)]
    assert event_types(job).count(T.JOB_RETRYING) == 2
    assert Execution.objects.filter(job=job).count() == 1


def test_a_failure_that_the_office_does_not_retry_is_final():
    job = a_job(an_office(retryable_failures=["timeout"]))
    claimed(job).fail("error", delay_ms=1_000)
    assert fresh(job).status == JobStatus.FAILED


@pytest.mark.parametrize("moved", ["fence", "lease", "ended"])
def test_a_former_owner_changes_nothing(moved):
    job = a_job(an_office())
    run = claimed(job)
    if moved == "fence":
        run.fence -= 1
    elif moved == "lease":
        expire_lease(run.execution)
    else:
        run.finish(result='"first"')
    before = fresh(job), event_types(job)
    assert run.finish(result='"second"') is None
    assert run.fail() is None
    now = fresh(job)
    assert (now.status, now.execution.status, now.execution.result) == (
        before[0].status,
        before[0].execution.status,
        before[0].execution.result,
    )
    assert event_types(job) == before[1]


def test_a_former_owner_cannot_fail_the_next_attempt():
    job = a_job(an_office())
    first = claimed(job, token="one")
    first.lose()
    second = claimed(job, token="two")
    assert first.fail() is None
    assert first.finish() is None
    assert second.finish(result="2") is not None
    assert fresh(job).execution.result == 2


def test_a_result_after_the_cancel_is_dropped():
    job = a_job(an_office())
    run = claimed(job)
    lifecycle.cancel(job.office_id, [job.id], actor="me")
    answer = run.finish(result='"too late"')
    assert answer.state == ExecutionStatus.CANCELLED
    job = fresh(job)
    assert (job.status, job.execution.status, job.execution.result) == ("cancelled", "CANCELLED", None)
    assert attempts(job) == [(1, "cancelled", "cancelled")]
    assert event_types(job)[-1] == T.JOB_CANCELLED


def test_a_failure_after_the_cancel_is_not_retried():
    job = a_job(an_office())
    run = claimed(job)
    lifecycle.cancel(job.office_id, [job.id], actor="me")
    run.fail(delay_ms=1_000)
    assert (fresh(job).status, fresh(job).failure_type) == ("cancelled", "cancelled")


def test_a_finish_dispatches_the_next_job_of_a_chain():
    first, second = submitted(an_office(), {"ref": "a"}, {"ref": "b", "depends_on": ["a"]})
    answer = claimed(first).finish()
    assert [send.execution for send in answer.effects.send] == [str(fresh(second).execution_id)]
    assert answer.effects.parts == []
    assert event_types(second) == [T.JOB_READY]


def test_a_join_gets_its_part_counted_with_the_id_of_the_job():
    first, _, last = submitted(
        an_office(), {"ref": "a"}, {"ref": "b"}, {"ref": "c", "depends_on": ["b", "a"]}
    )
    answer = claimed(first).finish()
    assert answer.effects.parts == [[str(last.id), str(first.id), 1, "default", "demo.sum", 3]]
    assert fresh(last).status == JobStatus.PENDING


def test_a_failure_spreads_to_dependents_with_the_policy_fail_only():
    office = an_office(max_concurrent_jobs=9)
    first, failing, below, blocked, run = submitted(
        office,
        {"ref": "a"},
        {"ref": "b", "depends_on": ["a"], "on_dependency_failure": "fail"},
        {"ref": "c", "depends_on": ["b"], "on_dependency_failure": "fail"},
        {"ref": "d", "depends_on": ["a"]},
        {"ref": "e", "depends_on": ["b"], "on_dependency_failure": "run"},
    )
    claimed(first).fail()
    statuses = [fresh(job).status for job in (failing, below, blocked, run)]
    assert statuses == ["failed", "failed", "pending", "processing"]
    assert fresh(failing).failure_type == fresh(below).failure_type == FailureType.DEPENDENCY_FAILED
    assert "a" in fresh(failing).error_message
    assert event_types(below) == [T.JOB_FAILED]


def test_a_batch_ends_with_its_last_job_and_counts_the_outcomes():
    office = an_office()
    good, bad = submitted(office, {}, {}, name="two")
    done(good)
    assert batches_completed(office) == []
    claimed(bad).fail()
    assert batches_completed(office) == [{"done": 1, "failed": 1}]
    assert fresh(bad).batch.ended_at is not None


def test_a_lost_run_restarts_at_once_in_the_same_slot_without_a_retry():
    office = an_office(max_concurrent_jobs=1)
    job, other = submitted(office, {}, {})
    answer = claimed(job).lose()
    job = fresh(job)
    assert (job.status, job.retry_count, job.execution.crash_count) == (JobStatus.PROCESSING, 0, 1)
    assert answer.effects.send == [Send(str(job.execution_id), 2, "default", "demo.sum", 0, 0)]
    assert attempts(job) == [(1, "lost", "worker_lost")]
    assert fresh(other).status == JobStatus.READY


def test_the_third_lost_run_is_poison():
    job = a_job(an_office())
    for token in "abc":
        answer = claimed(job, token=token).lose()
    assert (fresh(job).status, fresh(job).failure_type) == (JobStatus.FAILED, FailureType.POISON)
    assert answer.state == ExecutionStatus.FAILED
    assert "3 times" in fresh(job).error_message
    assert [outcome for _, outcome, _ in attempts(job)] == ["lost"] * 3


def test_a_task_that_must_not_start_twice_fails_when_it_is_lost():
    run = running_start(on_lost="fail")
    run.lose()
    row = Execution.objects.get(id=run.execution)
    assert (row.status, row.failure_type) == (ExecutionStatus.FAILED, FailureType.WORKER_LOST)


def test_a_run_past_its_time_limit_is_a_timeout_with_the_jobs_own_delay():
    job = a_job(an_office(), retry_base_delay=7_000, retry_backoff="linear")
    run = claimed(job)
    lifecycle.finish_timed_out(run.execution, run.fence, trigger=Trigger.JOB)
    job = fresh(job)
    assert job.status == JobStatus.TIMEOUT
    attempt = Attempt.objects.get(execution=job.execution)
    assert attempt.error == job.error_message == "Job execution timed out"
    assert job.retry_at - attempt.ended_at == timedelta(seconds=7)
    assert attempts(job) == [(1, "timeout", "timeout")]


def test_an_execution_that_no_job_owns_retries_by_its_own_row():
    run = running_start(max_retries=1)
    run.fail(delay_ms=0)
    row = Execution.objects.get(id=run.execution)
    assert (row.status, row.retry_count, row.dispatched_at) == (ExecutionStatus.PENDING, 1, None)
    assert lifecycle.send_due(row.due_at) == 1
    claimed_start(row.id, 2).fail(delay_ms=0)
    row.refresh_from_db()
    assert row.status == ExecutionStatus.FAILED


def test_an_end_handler_is_called_for_each_attempt_in_its_transaction(monkeypatch):
    settlements = []
    monkeypatch.setitem(lifecycle.end_handlers, Trigger.MANUAL, settlements.append)
    run = running_start(source="mine", max_retries=1)
    run.fail(delay_ms=0)
    lifecycle.send_due(Execution.objects.get(id=run.execution).due_at)
    claimed_start(run.execution, 2).fail(delay_ms=0)
    assert [(end.execution, end.source, end.state) for end in settlements] == [
        (run.execution, "mine", "PENDING"),
        (run.execution, "mine", "FAILED"),
    ]


def test_an_end_handler_that_fails_rolls_back_the_end(monkeypatch):
    def refuse(*_: object) -> None:
        raise RuntimeError("not now")

    monkeypatch.setitem(lifecycle.end_handlers, Trigger.MANUAL, refuse)
    run = running_start()
    with pytest.raises(RuntimeError):
        run.finish()
    assert Execution.objects.get(id=run.execution).status == ExecutionStatus.RUNNING


def test_an_error_text_that_cannot_be_stored_is_cleaned():
    job = a_job(an_office())
    claimed(job).fail(error="nul \x00, half a pair \ud800, " + "long " * 10_000)
    assert fresh(job).error_message.startswith("nul \ufffd, half a pair ?, long ")
    assert len(fresh(job).error_message) <= 20_000
