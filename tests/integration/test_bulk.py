"""Bulk actions on jobs: what they count, skip, change and refuse."""

import pytest

from jobs import bulk, lifecycle
from jobs.bulk import Action
from jobs.models import Event, Job
from jobs.states import EventType, JobStatus
from tests.factories import an_office, done, fresh, running, submitted

pytestmark = pytest.mark.django_db

CANCEL = Action(bulk.CANCEL, "test", "not needed")
RETRY = Action(bulk.RETRY, "test")


def test_a_preview_counts_what_fits_and_what_is_skipped_in_every_office():
    few, many = an_office(name="few"), an_office(name="many")
    submitted(few, {})
    ended, current, *_ = submitted(many, {}, {}, {})
    done(ended)
    running(current)
    preview = bulk.preview(Job.objects.all(), bulk.CANCEL)
    assert (preview.changed, preview.beyond, preview.skipped_by_state) == (3, 0, {JobStatus.DONE: 1})
    assert preview.offices == [many.id, few.id]
    assert preview.skipped == 1


def test_a_preview_counts_no_more_rows_than_its_limit():
    submitted(an_office(), *({} for _ in range(5)))
    jobs = Job.objects.all()
    assert bulk.preview(jobs, bulk.CANCEL, most=2).beyond == 3
    assert bulk.preview(jobs, bulk.CANCEL, most=2, counted=3).beyond == 1
    assert bulk.preview(jobs, bulk.CANCEL, most=None).changed == 5
    assert bulk.preview(jobs, bulk.RETRY, counted=3).skipped == 3


def test_matching_jobs_of_every_office_are_cancelled_and_no_others():
    kept, *cancelled = submitted(an_office(), {"role": "FE"}, {"role": "BE"}, {"role": "BE"})
    cancelled += submitted(an_office(name="other"), {"role": "BE"})
    result = bulk.apply(Job.objects.filter(role="BE"), CANCEL)
    assert (result.changed, result.refused) == (3, 0)
    assert {fresh(job).status for job in cancelled} == {JobStatus.CANCELLED}
    assert fresh(kept).status != JobStatus.CANCELLED
    event = Event.objects.filter(type=EventType.JOB_CANCELLED).last()
    assert event is not None
    assert (event.details["actor"], event.details["reason"]) == ("test", "not needed")


def test_an_action_changes_no_more_jobs_than_its_limit():
    jobs = submitted(an_office(), {}, {}, {}) + submitted(an_office(name="other"), {}, {})
    assert bulk.apply(Job.objects.all(), CANCEL, most=4).changed == 4
    assert sum(fresh(job).status == JobStatus.CANCELLED for job in jobs) == 4


def test_a_retry_whose_unique_key_is_taken_is_refused_and_the_others_run_again():
    office = an_office()
    old, other = submitted(office, {"unique_key": "k", "max_retries": 0}, {"max_retries": 0})
    for job in (old, other):
        running(job).fail()
    submitted(office, {"unique_key": "k"})
    result = bulk.apply(Job.objects.filter(pk__in=[old.pk, other.pk]), RETRY)
    assert (result.changed, result.refused) == (1, 1)
    assert fresh(old).status == JobStatus.FAILED
    assert fresh(other).status in (JobStatus.READY, JobStatus.PROCESSING)


def test_a_job_that_ended_meanwhile_is_refused(monkeypatch):
    (job,) = submitted(an_office(max_concurrent_jobs=0), {})
    cancel = lifecycle.cancel

    def late(office, jobs, **by):
        cancel(office, jobs, actor="another user")
        return cancel(office, jobs, **by)

    monkeypatch.setattr(lifecycle, "cancel", late)
    result = bulk.apply(Job.objects.filter(pk=job.pk), CANCEL)
    assert (result.changed, result.refused) == (0, 1)


def test_a_priority_is_set_or_adjusted_and_urgency_stays_unless_given():
    jobs = submitted(an_office(max_concurrent_jobs=0), {"priority": 5}, {"priority": 7})
    bulk.apply(Job.objects.all(), Action(bulk.REPRIORITISE, "test", delta=-3, urgent=True))
    assert [(fresh(job).priority, fresh(job).urgent) for job in jobs] == [(2, True), (4, True)]
    bulk.apply(Job.objects.all(), Action(bulk.REPRIORITISE, "test", priority=1))
    assert [(fresh(job).priority, fresh(job).urgent) for job in jobs] == [(1, True), (1, True)]
