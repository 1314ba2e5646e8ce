"""submit: all of its jobs and edges, or nothing; roots become ready and fill the free slots."""

from datetime import timedelta

import pytest
from django.utils import timezone

from dure.failures import FailureType
from jobs import lifecycle, submission
from jobs.errors import Conflict, Invalid
from jobs.models import Batch, Dependency, Event, Execution, Job
from jobs.states import JobStatus
from tests.events import T, batches_completed, event_types
from tests.factories import a_job, an_office, claimed, done, fresh, submitted

pytestmark = pytest.mark.django_db


def test_a_job_without_dependencies_is_dispatched_at_once():
    job = a_job(an_office())
    assert job.status == JobStatus.PROCESSING
    assert job.execution is not None
    assert (job.execution.status, job.execution.dispatch, job.execution.fence) == ("PENDING", 1, 0)
    assert event_types(job) == [T.JOB_READY]


def test_jobs_without_a_slot_stay_ready_in_the_order_of_the_submission():
    jobs = submitted(an_office(max_concurrent_jobs=2), {}, {}, {}, {})
    assert [job.status for job in jobs] == ["processing", "processing", "ready", "ready"]
    assert [job.seq for job in jobs] == sorted(job.seq for job in jobs)


def test_a_job_waits_for_its_dependencies_and_has_no_execution_yet():
    first, second = submitted(an_office(), {"ref": "a"}, {"ref": "b", "depends_on": ["a"]})
    assert (first.status, second.status) == ("processing", "pending")
    assert second.execution is None
    assert event_types(second) == []


def test_edges_keep_the_order_in_which_a_job_named_them():
    *_, last = submitted(
        an_office(), {"ref": "a"}, {"ref": "b"}, {"ref": "c"}, {"ref": "d", "depends_on": ["c", "a", "b"]}
    )
    named = Dependency.objects.filter(job=last).order_by("position").values_list("parent__ref", flat=True)
    assert list(named) == ["c", "a", "b"]
    assert last.dependency_count == 3


def test_a_refused_submission_writes_nothing():
    office = an_office()
    with pytest.raises(Invalid) as refusal:
        submitted(office, {"ref": "a", "depends_on": ["b"]}, {"ref": "b", "depends_on": ["a"]})
    assert refusal.value.code == "cycle"
    assert sorted(refusal.value.extra["cycle"]) == ["a", "b"]  # type: ignore[call-overload]
    assert not Job.objects.exists()
    assert not Batch.objects.exists()


def test_a_unique_key_is_free_again_when_its_job_has_ended():
    office = an_office()
    first = a_job(office, unique_key="report")
    prepared = submission.prepare(
        office, [{"task_id": "demo.sum", "args": {"numbers": []}, "unique_key": "report"}]
    )
    with pytest.raises(Conflict) as refusal:
        lifecycle.submit(prepared)
    assert refusal.value.code == "unique_key_taken"
    done(first)
    assert a_job(office, unique_key="report").status == JobStatus.PROCESSING


def test_the_same_unique_key_in_another_office_is_another_key():
    a_job(an_office(), unique_key="report")
    assert a_job(an_office(), unique_key="report").status == JobStatus.PROCESSING


def test_a_job_with_a_run_at_ahead_waits_for_it():
    at = timezone.now() + timedelta(hours=1)
    job = a_job(an_office(), run_at=at.isoformat())
    assert (job.status, job.run_at, job.due_at) == ("pending", at, at)
    assert event_types(job) == []


def test_a_run_at_in_the_past_does_not_delay_a_job():
    job = a_job(an_office(), run_at=(timezone.now() - timedelta(hours=1)).isoformat())
    assert (job.status, job.due_at) == ("processing", None)


def test_a_paused_office_takes_jobs_and_sends_none():
    job = a_job(an_office(paused=True))
    assert (job.status, job.execution) == ("ready", None)


def test_a_job_can_depend_on_one_that_the_office_has_and_that_is_done():
    office = an_office()
    parent = done(a_job(office))
    assert a_job(office, depends_on=[str(parent.id)]).status == JobStatus.PROCESSING


def test_a_job_that_depends_on_a_failed_one_follows_its_policy_at_once():
    office = an_office(max_concurrent_jobs=9)
    parent = a_job(office)
    claimed(parent).fail()
    after = {"depends_on": [str(parent.id)]}
    blocked, failed, run = submitted(
        office, *[{**after, "on_dependency_failure": policy} for policy in ("block", "fail", "run")]
    )
    assert (blocked.status, failed.status, run.status) == ("pending", "failed", "processing")
    assert failed.failure_type == FailureType.DEPENDENCY_FAILED
    assert event_types(failed) == [T.JOB_FAILED]


def test_an_earlier_failure_spreads_through_a_whole_submission():
    office = an_office()
    parent = a_job(office)
    claimed(parent).fail()
    policy = {"on_dependency_failure": "fail"}
    jobs = submitted(
        office,
        {"ref": "a", "depends_on": [str(parent.id)], **policy},
        {"ref": "b", "depends_on": ["a"], **policy},
        {"ref": "c", "depends_on": ["b", "a"], **policy},
    )
    assert {job.status for job in jobs} == {JobStatus.FAILED}
    assert batches_completed(office) == [{"failed": 1}, {"failed": 3}]


def test_the_batch_of_an_earlier_failure_keeps_its_end():
    office = an_office()
    parent = a_job(office)
    claimed(parent).fail()
    batch = Batch.objects.get(office_id=office.id)
    a_job(office, depends_on=[str(parent.id)], on_dependency_failure="fail")
    assert Batch.objects.get(id=batch.id).ended_at == batch.ended_at


def test_jobs_of_the_same_batch_id_add_to_it_and_open_it_again():
    office = an_office()
    batch = str(a_job(office).id)
    (first,) = submitted(office, {}, id=batch, name="nightly")
    done(first)
    assert Batch.objects.get(id=batch).ended_at is not None
    (second,) = submitted(office, {}, id=batch)
    stored = Batch.objects.get(id=batch)
    assert (stored.ended_at, stored.name) == (None, "nightly")
    done(second)
    assert batches_completed(office) == [{"done": 1}, {"done": 2}]


def test_an_execution_gets_the_values_of_its_job():
    job = a_job(
        an_office(), timeout_ms=1234, max_retries=7, retry_backoff="linear", retry_base_delay=55, role="QA"
    )
    made = Execution.objects.get(job=job)
    assert (made.task_id, made.role, made.trigger, made.args) == ("demo.sum", "QA", "JOB", {"numbers": [1]})
    assert (made.timeout_ms, made.max_retries, made.retry_backoff) == (1234, 7, "linear")
    assert (made.retry_base_delay_ms, made.on_lost, made.office_id) == (55, "retry", job.office_id)


def test_a_large_submission_opens_its_roots_and_nothing_else():
    office = an_office()
    jobs = [{"ref": str(n), "depends_on": [str(n - 1)] if n % 100 else []} for n in range(2_000)]
    made = submitted(office, *jobs)
    assert (len(made), Dependency.objects.count()) == (2_000, 1_980)
    assert Event.objects.filter(type=T.JOB_READY).count() == 20
    assert fresh(made[0]).status == JobStatus.PROCESSING
