"""cancel is final in every state; a running job keeps its slot until its body has stopped."""

import pytest

from jobs import lifecycle
from jobs.answers import CancelResult, Settlement
from jobs.effects import Effects
from jobs.models import Event, Execution, Job
from jobs.states import CLIENT_EVENTS, ExecutionStatus, JobStatus, Trigger
from tests.events import T, batches_completed, details, event_types
from tests.factories import (
    a_job,
    a_start,
    an_office,
    claimed,
    claimed_start,
    done,
    fresh,
    running_start,
    submitted,
)

pytestmark = pytest.mark.django_db


def cancel(*jobs):
    return lifecycle.cancel(jobs[0].office_id, [job.id for job in jobs], actor="me", reason="enough")


def test_a_job_that_waits_is_cancelled_at_once():
    job = submitted(an_office(), {"ref": "a"}, {"ref": "b", "depends_on": ["a"]})[1]
    assert cancel(job) == CancelResult(1, 0)
    job = fresh(job)
    assert (job.status, job.failure_type) == (JobStatus.CANCELLED, "cancelled")
    assert job.cancelled_at == job.completed_at is not None
    assert event_types(job) == [T.JOB_CANCELLED]
    assert details(job, T.JOB_CANCELLED) == {"actor": "me", "reason": "enough"}


def test_a_job_that_was_sent_and_not_claimed_is_cancelled_and_frees_its_slot():
    first, second = submitted(an_office(max_concurrent_jobs=1), {}, {})
    assert cancel(first) == CancelResult(1, 0)
    assert (fresh(first).status, fresh(first).execution.status) == ("cancelled", "CANCELLED")
    assert claimed(first) is None
    assert fresh(second).status == JobStatus.PROCESSING


def test_a_running_job_is_asked_to_stop_and_keeps_its_slot_until_it_has(monkeypatch):
    answers = []
    monkeypatch.setattr(Effects, "on_commit", lambda effects: answers.append(effects))
    first, second = submitted(an_office(max_concurrent_jobs=1), {}, {})
    run = claimed(first, worker="w@here")
    assert cancel(first) == CancelResult(0, 1)
    assert answers[-1].stop == [run.execution]
    assert (fresh(first).status, fresh(second).status) == ("processing", "ready")
    assert fresh(first).cancelled_at is not None
    assert lifecycle.is_cancelled(run.execution, run.fence)
    assert T.JOB_CANCELLED not in event_types(first)
    run.fail()
    assert (fresh(first).status, fresh(second).status) == ("cancelled", "processing")
    assert event_types(first)[-1] == T.JOB_CANCELLED


def test_the_actor_of_a_cancel_is_recorded_once_for_operators():
    job = a_job(an_office())
    run = claimed(job)
    assert cancel(job) == CancelResult(0, 1)
    lifecycle.cancel(job.office_id, [job.id], actor="another", reason="too late")
    assert details(job, T.JOB_CANCEL_REQUESTED) == {"actor": "me", "reason": "enough"}
    run.fail()
    assert event_types(job)[-2:] == [T.JOB_CANCEL_REQUESTED, T.JOB_CANCELLED]
    assert event_types(job).count(T.JOB_CANCEL_REQUESTED) == 1
    assert T.JOB_CANCEL_REQUESTED not in CLIENT_EVENTS


def test_a_cancelled_run_that_is_lost_is_cancelled_and_does_not_start_again():
    job = a_job(an_office())
    run = claimed(job)
    cancel(job)
    run.lose()
    assert (fresh(job).status, fresh(job).execution.status) == ("cancelled", "CANCELLED")


def test_a_job_that_waits_for_its_retry_is_cancelled_with_its_execution():
    job = a_job(an_office())
    claimed(job).fail(delay_ms=60_000)
    assert cancel(job) == CancelResult(1, 0)
    assert (fresh(job).execution.status, fresh(job).due_at) == (ExecutionStatus.CANCELLED, None)
    lifecycle.advance_office(job.office_id)
    assert fresh(job).status == JobStatus.CANCELLED


def test_an_ended_job_is_not_changed_by_a_cancel():
    job = done(a_job(an_office()))
    assert cancel(job) == CancelResult(0, 0)
    assert fresh(job).status == JobStatus.DONE
    assert event_types(job)[-1] == T.JOB_COMPLETED


def test_the_job_of_another_office_cannot_be_cancelled():
    mine, theirs = an_office(), a_job(an_office())
    waiting = a_job(an_office(paused=True))
    running = a_job(an_office())
    claimed(running)
    answer = lifecycle.cancel(mine.id, [theirs.id, waiting.id, running.id], actor="me")
    assert answer == CancelResult(0, 0)
    assert (fresh(theirs).status, fresh(theirs).execution.status) == ("processing", "PENDING")
    assert (fresh(running).cancelled_at, fresh(running).execution.cancel_requested_at) == (None, None)
    assert fresh(waiting).status == JobStatus.READY


def test_dependents_of_a_cancelled_job_follow_their_policy():
    first, blocked, failed, run = submitted(
        an_office(),
        {"ref": "a"},
        {"depends_on": ["a"]},
        {"depends_on": ["a"], "on_dependency_failure": "fail"},
        {"depends_on": ["a"], "on_dependency_failure": "run"},
    )
    cancel(first)
    assert [fresh(job).status for job in (blocked, failed, run)] == ["pending", "failed", "processing"]


def test_a_whole_batch_is_cancelled_by_one_call_and_ends_once():
    office = an_office(max_concurrent_jobs=3)
    jobs = submitted(
        office, *[{"ref": str(n), "depends_on": [str(n - 1)] if n % 5 else []} for n in range(200)]
    )
    run = claimed(jobs[0])
    assert cancel(*jobs) == CancelResult(199, 1)
    assert batches_completed(office) == []
    run.finish()
    assert batches_completed(office) == [{"cancelled": 200}]
    assert not Execution.objects.filter(status__in=["PENDING", "RUNNING"]).exists()


def test_ten_thousand_jobs_are_cancelled_in_one_call():
    office = an_office()
    submitted(office, *[{"ref": str(n), "depends_on": [str(n - 1)] if n % 10 else []} for n in range(10_000)])
    ids = list(Job.objects.filter(office=office).values_list("id", flat=True))
    assert lifecycle.cancel(office.id, ids, actor="me") == CancelResult(10_000, 0)
    assert Event.objects.filter(type=T.JOB_CANCELLED).count() == 10_000


def test_an_execution_that_no_job_owns_is_cancelled_before_its_start(monkeypatch):
    settlements = []
    monkeypatch.setitem(lifecycle.end_handlers, Trigger.MANUAL, settlements.append)
    execution = a_start(source="mine")
    assert lifecycle.cancel_execution(execution) == ExecutionStatus.CANCELLED
    assert settlements == [Settlement(str(execution), "mine", "CANCELLED", "cancelled", "")]
    assert claimed_start(execution) is None
    assert lifecycle.cancel_execution(execution) is None


def test_an_execution_that_runs_is_asked_to_stop():
    run = running_start()
    assert lifecycle.cancel_execution(run.execution) == ExecutionStatus.RUNNING
    assert lifecycle.is_cancelled(run.execution, run.fence)
    assert run.finish(result="1").state == ExecutionStatus.CANCELLED
    assert Execution.objects.get(id=run.execution).result is None


def test_an_execution_of_a_job_is_cancelled_by_its_job_only():
    job = a_job(an_office())
    assert lifecycle.cancel_execution(str(job.execution_id)) is None
    assert fresh(job).execution.status == ExecutionStatus.PENDING
