"""submit of one job: it starts as it is written if a slot is free and nothing else waits for one."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import lifecycle, publish, submission
from jobs.models import Execution, Job, Office, PausedRole
from jobs.states import JobStatus
from tests.events import T, event_types
from tests.factories import an_office, done, fresh, resume_office, serve_roles, unserve_roles
from tests.limited_tasks import TASK, register

pytestmark = pytest.mark.django_db

# What differs between any two runs.
OWN = {"id", "job_id", "office_id", "created_at", "dispatched_at", "sent_at"}


def submit_one(office, **fields):
    body = {"task_id": "demo.sum", "args": {"numbers": [1]}, "role": "FE", **fields}
    (job,) = lifecycle.submit(submission.read(office, body))
    return Job.objects.get(id=job)


def values(row, without):
    return {name: value for name, value in row.__dict__.items() if name not in without | {"_state"}}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {
            "urgent": True,
            "max_retries": 7,
            "retry_base_delay": 5,
            "timeout_ms": 900,
            "args": {"numbers": [1, 2]},
        },
        {"run_at": (timezone.now() - timedelta(days=1)).isoformat()},
        {"queue_timeout_ms": 60_000},
    ],
    ids=["defaults", "values of its own", "due already", "queue timeout"],
)
def test_a_single_job_is_written_as_a_dispatch_would_have_written_it(fields):
    offices = an_office(name="free"), an_office(name="paused", paused=True)
    jobs = [submit_one(office, **fields) for office in offices]
    resume_office(offices[1])
    jobs = [fresh(job) for job in jobs]
    runs = [job.execution for job in jobs]
    assert runs[0] is not None and values(runs[0], OWN) == values(runs[1], OWN)
    times = {"ready_at", "queue_timeout_at", "execution_id", "seq"}
    assert values(jobs[0], OWN | times) == values(jobs[1], OWN | times)
    assert (jobs[0].queue_timeout_at is None) == (jobs[1].queue_timeout_at is None)
    assert event_types(jobs[0]) == event_types(jobs[1]) == [T.JOB_READY]


def full_office():
    office = an_office(max_concurrent_jobs=1)
    return office, done_later(submit_one(office, role="QA"))


def full_role():
    office = an_office(max_concurrent_by_role={"FE": 1})
    return office, done_later(submit_one(office))


def paused_office():
    office = an_office(paused=True)
    return office, lambda: resume_office(office)


def unserved_role():
    office = an_office()
    unserve_roles("FE")

    def serve():
        an_office(name="another")
        lifecycle.advance_office(office.id)

    return office, serve


def role_of_a_silent_worker():
    office = an_office()
    serve_roles("FE", seconds=-1)

    def serve():
        serve_roles("FE")
        lifecycle.advance_office(office.id)

    return office, serve


def paused_queue():
    office = an_office()
    PausedRole.objects.create(role="FE", by="me")

    def resume():
        PausedRole.objects.all().delete()
        lifecycle.advance_office(office.id)

    return office, resume


def older_job():
    office = an_office(paused=True, max_concurrent_jobs=1)
    older = submit_one(office)
    Office.objects.filter(id=office.id).update(paused=False)
    return office, lambda: done(fresh(older))


def done_later(job):
    return lambda: done(job)


@pytest.mark.parametrize(
    "obstacle",
    [full_office, full_role, paused_office, unserved_role, role_of_a_silent_worker, paused_queue, older_job],
)
def test_a_single_job_waits_while_something_is_in_the_way(obstacle):
    office, remove = obstacle()
    job = submit_one(office)
    assert (job.status, job.execution) == (JobStatus.READY, None)
    remove()
    assert fresh(job).status == JobStatus.PROCESSING


def test_the_limit_of_a_single_jobs_task_counts():
    register(exclusive=True)
    office = an_office()
    first, second = (submit_one(office, task_id=TASK, args={}) for _ in range(2))
    assert (first.status, second.status) == (JobStatus.PROCESSING, JobStatus.READY)
    done(first)
    assert fresh(second).status == JobStatus.PROCESSING


def test_a_single_job_waits_until_it_is_due():
    job = submit_one(an_office(), run_at=(timezone.now() + timedelta(hours=1)).isoformat())
    assert (job.status, job.execution) == (JobStatus.PENDING, None)
    assert event_types(job) == []


@pytest.fixture
def sent(monkeypatch):
    messages = []

    def send(sends):
        messages.extend(sends)
        return True

    monkeypatch.setattr(publish, "send_messages", send)
    return messages


def test_the_level_of_a_single_jobs_message_follows_how_full_the_office_is(
    sent, django_capture_on_commit_callbacks
):
    office = an_office(max_concurrent_jobs=20)
    with django_capture_on_commit_callbacks(execute=True):
        for _ in range(11):
            submit_one(office)
        submit_one(office, urgent=True)
    assert [send.level for send in sent] == [0, 3, 3, *[6] * 7, 9, 0]
    assert {send.execution for send in sent} == {str(run.id) for run in Execution.objects.all()}


def test_the_level_of_a_single_jobs_message_follows_neither_other_offices_nor_what_has_ended(
    sent, django_capture_on_commit_callbacks
):
    office = an_office()
    done(submit_one(office))
    submit_one(an_office())
    with django_capture_on_commit_callbacks(execute=True):
        submit_one(office)
    assert [send.level for send in sent] == [0]
