"""reprioritise changes the order of jobs that have not ended."""

import pytest

from jobs import lifecycle
from jobs.models import Event, Job
from jobs.sockets.events import events_after
from jobs.states import EventType, JobStatus
from tests.factories import a_job, an_office, done, fresh, submitted

pytestmark = pytest.mark.django_db


def test_ready_jobs_start_in_the_new_order():
    office = an_office(max_concurrent_jobs=1)
    first, second, third, fourth = submitted(office, {}, {}, {}, {"priority": 50})
    assert lifecycle.reprioritise(office.id, [third.id], priority=-1) == 1
    assert lifecycle.reprioritise(office.id, [second.id], urgent=True) == 1
    order = []
    for _ in range(4):
        current = Job.objects.get(office=office, status=JobStatus.PROCESSING)
        order.append(current.id)
        done(current)
    assert order == [fourth.id, second.id, third.id, first.id]


def test_a_delta_is_added_within_the_range_of_the_column():
    office = an_office()
    job = a_job(office, priority=2**31 - 10)
    lifecycle.reprioritise(office.id, [job.id], delta=7)
    assert fresh(job).priority == 2**31 - 3
    lifecycle.reprioritise(office.id, [job.id], delta=2**31 - 1)
    assert fresh(job).priority == 2**31 - 1
    lifecycle.reprioritise(office.id, [job.id], delta=-(2**31))
    assert fresh(job).priority == -1


def test_omitted_values_are_unchanged():
    office = an_office()
    job = a_job(office, priority=5, urgent=True)
    lifecycle.reprioritise(office.id, [job.id], priority=6)
    assert (fresh(job).priority, fresh(job).urgent) == (6, True)
    lifecycle.reprioritise(office.id, [job.id], urgent=False)
    assert (fresh(job).priority, fresh(job).urgent) == (6, False)


def test_ended_jobs_and_jobs_of_other_offices_are_not_changed():
    office = an_office()
    ended = done(a_job(office))
    theirs = a_job(an_office())
    assert lifecycle.reprioritise(office.id, [ended.id, theirs.id], priority=1) == 0
    assert fresh(theirs).priority == 100


def test_a_change_of_the_order_is_recorded_for_operators_only():
    office = an_office()
    job = a_job(office, priority=5)
    lifecycle.reprioritise(office.id, [job.id], delta=2, actor="alice", reason="the release waits")
    event = Event.objects.get(job_id=job.id, type=EventType.JOB_REPRIORITISED)
    assert event.details == {"actor": "alice", "reason": "the release waits", "priority": 7, "urgent": False}
    assert event.id not in {sent["id"] for sent in events_after(office.id, 0, 1_000)}


def test_jobs_that_were_not_changed_get_no_event():
    office = an_office()
    lifecycle.reprioritise(office.id, [done(a_job(office)).id], priority=1, actor="alice")
    assert not Event.objects.filter(type=EventType.JOB_REPRIORITISED).exists()
