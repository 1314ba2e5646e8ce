"""advance_office promotes due and unblocked jobs of an office and fills its slots."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import lifecycle, sweeps
from jobs.answers import AdvanceResult
from jobs.models import Job, Office
from jobs.states import JobStatus
from tests.events import T, event_types
from tests.factories import a_job, an_office, claimed, done, fresh, submitted

pytestmark = pytest.mark.django_db


def test_a_free_join_that_was_not_released_becomes_ready():
    office = an_office()
    first, second, last = submitted(office, {"ref": "a"}, {"ref": "b"}, {"depends_on": ["a", "b"]})
    done(first)
    done(second)
    assert fresh(last).status == JobStatus.PENDING
    assert lifecycle.advance_office(office.id) == AdvanceResult(1, 1)
    assert fresh(last).status == JobStatus.PROCESSING
    assert lifecycle.advance_office(office.id) == AdvanceResult(0, 0)


def test_a_job_that_still_waits_stays_pending():
    office = an_office()
    _, second = submitted(office, {"ref": "a"}, {"depends_on": ["a"]})
    assert lifecycle.advance_office(office.id) == AdvanceResult(0, 0)
    assert event_types(second) == []


def test_a_raised_limit_is_used():
    office = an_office(max_concurrent_jobs=1)
    submitted(office, {}, {}, {})
    Office.objects.filter(id=office.id).update(max_concurrent_jobs=3)
    assert lifecycle.advance_office(office.id).dispatched == 2


def test_a_paused_office_sends_its_ready_jobs_when_it_resumes():
    office = an_office()
    first, second = submitted(office, {"ref": "a"}, {"depends_on": ["a"]})
    run = claimed(first)
    Office.objects.filter(id=office.id).update(paused=True)
    run.finish()
    assert (fresh(first).status, fresh(second).status) == ("done", "ready")
    Office.objects.filter(id=office.id).update(paused=False)
    assert lifecycle.advance_office(office.id) == AdvanceResult(0, 1)


def test_a_job_whose_time_has_come_starts_and_not_a_moment_earlier():
    office = an_office()
    at = timezone.now() + timedelta(hours=1)
    job = a_job(office, run_at=at.isoformat())
    assert lifecycle.advance_office(office.id, at - timedelta(milliseconds=1)).promoted == 0
    assert lifecycle.advance_office(office.id, at).promoted == 1
    assert fresh(job).status == JobStatus.PROCESSING


def test_a_job_that_is_due_and_still_blocked_waits_for_its_dependency_only():
    office = an_office()
    at = timezone.now() + timedelta(hours=1)
    first, second = submitted(office, {"ref": "a"}, {"depends_on": ["a"], "run_at": at.isoformat()})
    lifecycle.advance_office(office.id, at)
    assert (fresh(second).status, fresh(second).due_at) == (JobStatus.PENDING, None)
    done(first)
    assert fresh(second).status == JobStatus.PROCESSING


def test_a_job_whose_dependency_ended_first_waits_for_its_time():
    office = an_office()
    at = timezone.now() + timedelta(hours=1)
    first, second = submitted(office, {"ref": "a"}, {"depends_on": ["a"], "run_at": at.isoformat()})
    done(first)
    assert fresh(second).status == JobStatus.PENDING
    lifecycle.advance_office(office.id, at)
    assert fresh(second).status == JobStatus.PROCESSING


def test_the_sweep_finds_stuck_offices_and_no_others():
    free, stuck = an_office(name="free"), an_office(name="stuck")
    done(a_job(free))
    job = a_job(stuck)
    # A worker of older code that died between two commits would leave the job ready and not sent.
    Job.objects.filter(id=job.id).update(status=JobStatus.READY, execution=None)
    job.execution.delete()
    assert sweeps.advance_stuck_offices() == 0  # nothing to promote, but to send
    assert fresh(job).status == JobStatus.PROCESSING
    assert event_types(job) == [T.JOB_READY]
