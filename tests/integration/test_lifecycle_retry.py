"""retry by hand: failed, cancelled and timed-out jobs run again with a new Execution and fresh counts."""

import pytest
from django.utils import timezone

from dure.failures import FailureType
from jobs import bulk, lifecycle
from jobs.insight import retries
from jobs.insight.explain import explain
from jobs.models import Job
from jobs.states import ExecutionStatus, JobStatus, Outcome
from tests.events import T, batches_completed, details, event_types
from tests.factories import a_job, an_office, claimed, done, fresh, released, submitted

pytestmark = pytest.mark.django_db


def retry(*jobs):
    return lifecycle.retry(jobs[0].office_id, [job.id for job in jobs], actor="me", reason="try").count


def failed(job):
    claimed(job).fail()
    return fresh(job)


def test_a_failed_job_is_retried_with_a_new_execution_and_zero_counts():
    job = a_job(an_office(), max_retries=1)
    claimed(job).fail(delay_ms=0)
    lifecycle.advance_office(job.office_id)
    first = failed(job)
    assert (first.status, first.retry_count) == (JobStatus.FAILED, 1)
    assert retry(job) == 1
    again = fresh(job)
    assert (again.status, again.retry_count, again.failure_type) == (JobStatus.PROCESSING, 0, "")
    assert (again.error_message, again.completed_at, again.started_at) == ("", None, None)
    assert again.execution_id != first.execution_id
    assert (again.execution.attempt, again.execution.retry_count) == (0, 0)
    assert first.executions.get(id=first.execution_id).status == ExecutionStatus.FAILED
    assert event_types(job)[-2:] == [T.JOB_RETRYING, T.JOB_READY]
    assert details(job, T.JOB_RETRYING) == {"actor": "me", "reason": "try", "by_hand": True}
    done(job)


def test_a_cancelled_job_can_be_retried():
    job = a_job(an_office())
    lifecycle.cancel(job.office_id, [job.id], actor="me")
    assert retry(job) == 1
    assert (fresh(job).status, fresh(job).cancelled_at) == (JobStatus.PROCESSING, None)
    assert done(job).status == JobStatus.DONE


def test_a_job_that_waits_after_a_timeout_can_be_retried_at_once():
    job = a_job(an_office())
    claimed(job).finish(Outcome.TIMEOUT, failure_type=FailureType.TIMEOUT, delay_ms=60_000)
    waiting = fresh(job)
    assert retry(job) == 1
    assert fresh(job).status == JobStatus.PROCESSING
    replaced = waiting.execution
    replaced.refresh_from_db()
    assert (replaced.status, replaced.due_at) == (ExecutionStatus.CANCELLED, None)
    assert done(job).status == JobStatus.DONE


@pytest.mark.parametrize("stage", ["ready", "processing", "running", "done"])
def test_a_job_that_has_not_failed_is_not_retried(stage):
    office = an_office(paused=stage == "ready")
    job = a_job(office)
    if stage == "running":
        claimed(job)
    elif stage == "done":
        done(job)
    before = fresh(job)
    assert retry(job) == 0
    assert (fresh(job).status, fresh(job).execution_id) == (before.status, before.execution_id)
    assert T.JOB_RETRYING not in event_types(job)


def test_the_job_of_another_office_cannot_be_retried():
    job = failed(a_job(an_office()))
    assert lifecycle.retry(an_office().id, [job.id], actor="me").count == 0
    assert fresh(job).status == JobStatus.FAILED


def test_blocked_dependents_go_on_when_a_retried_job_is_done():
    first, second, last = submitted(
        an_office(), {"ref": "a"}, {"ref": "b", "depends_on": ["a"]}, {"depends_on": ["a", "b"]}
    )
    failed(first)
    retry(first)
    done(first)
    done(second)
    assert released(last) is not None


def test_dependents_that_failed_with_a_job_are_retried_separately_and_wait_for_it():
    first, second = submitted(
        an_office(), {"ref": "a"}, {"depends_on": ["a"], "on_dependency_failure": "fail"}
    )
    failed(first)
    assert retry(first, second) == 2
    assert (fresh(first).status, fresh(second).status) == ("processing", "pending")
    done(first)
    assert done(second).status == JobStatus.DONE


def failed_chain(policy="fail"):
    jobs = submitted(
        an_office(),
        {"ref": "a"},
        {"ref": "b", "depends_on": ["a"], "on_dependency_failure": policy},
        {"ref": "c", "depends_on": ["b"], "on_dependency_failure": policy},
    )
    failed(jobs[0])
    return [fresh(job) for job in jobs]


def test_a_job_that_fails_with_its_dependencies_is_retried_after_them():
    first, second, last = failed_chain()
    answer = lifecycle.retry(last.office_id, [last.id, second.id], actor="me")
    assert (answer.count, set(answer.blocked)) == (0, {second.id, last.id})
    assert [fresh(job).status for job in (second, last)] == ["failed", "failed"]
    assert T.JOB_RETRYING not in event_types(last)
    assert [job.ref for job in retries.retry_first(last)] == ["a", "b"]
    refusal = retries.refusal(last)
    assert refusal.code == "retry_dependencies_first"
    assert refusal.extra["count"] == 2
    for job in (first, second, last):
        assert retry(job) == 1
    for job in (first, second, last):
        assert done(job).status == JobStatus.DONE


def test_a_whole_chain_is_retried_at_once_and_fails_at_once_if_its_first_job_fails_again():
    chain = failed_chain()
    assert retry(*chain) == 3
    failed(chain[0])
    assert [fresh(job).failure_type for job in chain] == ["error", "dependency_failed", "dependency_failed"]


def test_a_blocked_job_is_retried_and_waits_for_its_cancelled_dependency():
    first, second, _last = submitted(
        an_office(paused=True),
        {"ref": "a"},
        {"ref": "b", "depends_on": ["a"]},
        {"depends_on": ["b"], "on_dependency_failure": "run"},
    )
    lifecycle.cancel(first.office_id, [first.id, second.id], actor="me")
    assert retry(second) == 1
    assert fresh(second).status == JobStatus.PENDING
    explained = explain(first.office, fresh(second), timezone.now())
    assert explained.reasons[0].code == "dependency_failed"


def test_a_bulk_retry_finds_dependencies_in_a_later_piece(monkeypatch):
    monkeypatch.setattr(bulk, "PIECE", 1)
    jobs = submitted(
        an_office(),
        {"ref": "c", "depends_on": ["b"], "on_dependency_failure": "fail"},
        {"ref": "b", "depends_on": ["a"], "on_dependency_failure": "fail"},
        {"ref": "a"},
    )
    failed(jobs[-1])
    selected = Job.objects.filter(pk__in=[job.pk for job in jobs])
    assert bulk.apply(selected, bulk.Action(bulk.RETRY, "me")) == bulk.Result(changed=3, refused=0)
    failed(jobs[-1])
    partly = selected.exclude(pk=jobs[-1].pk)
    assert bulk.apply(partly, bulk.Action(bulk.RETRY, "me")) == bulk.Result(changed=0, refused=2)


def test_a_retry_opens_its_batch_again():
    office = an_office()
    (job,) = submitted(office, {}, name="one")
    failed(job)
    retry(job)
    assert fresh(job).batch.ended_at is None
    done(job)
    assert batches_completed(office) == [{"failed": 1}, {"done": 1}]


def test_a_unique_key_that_was_taken_meanwhile_refuses_the_retry():
    """Another job holds the key now: two live jobs must not have the same key."""
    from jobs.errors import Conflict

    office = an_office()
    first = failed(a_job(office, unique_key="report"))
    a_job(office, unique_key="report")
    with pytest.raises(Conflict) as refusal:
        retry(first)
    assert refusal.value.code == "unique_key_taken"
    assert fresh(first).status == JobStatus.FAILED


def test_a_poisoned_job_starts_with_no_crashes_after_a_retry():
    job = a_job(an_office())
    for token in "abc":
        claimed(job, token=token).lose()
    retry(job)
    for token in "de":
        claimed(job, token=token).lose()
    assert fresh(job).status == JobStatus.PROCESSING
