"""`reseed` restores the counters of waiting joins in Redis."""

import pytest
from celery import current_app

from jobs import joins, lifecycle
from tests.factories import an_office, claimed, done, submitted

pytestmark = pytest.mark.django_db


def key(job, ending):
    return current_app.backend.get_key_for_group(joins.group(job.id), ending)


def size(job):
    value = current_app.backend.client.get(key(job, ".s"))
    return None if value is None else int(value)


def parts(job):
    return current_app.backend.client.zcard(key(job, ".j"))


def forget(*jobs):
    for job in jobs:
        current_app.backend.client.delete(key(job, ".s"), key(job, ".j"), key(job, ".t"))


def a_join(**fields):
    return submitted(
        an_office(), {"ref": "a"}, {"ref": "b"}, {"ref": "c"}, {"depends_on": ["a", "b", "c"], **fields}
    )


def test_a_submission_stores_the_size_of_its_joins():
    *_, last = a_join()
    assert (size(last), parts(last)) == (3, 0)


def test_a_waiting_join_is_seeded_again_with_the_parts_that_came_in():
    first, second, _, last = a_join()
    done(first)
    forget(last)
    assert lifecycle.reseed() == 1
    assert (size(last), parts(last)) == (3, 1)
    claimed(second).fail()
    lifecycle.reseed()
    assert parts(last) == 1, "a failure is no part of a join that blocks"


def test_a_join_with_the_policy_run_counts_failures_among_its_parts():
    first, _, _, last = a_join(on_dependency_failure="run")
    claimed(first).fail()
    forget(last)
    lifecycle.reseed()
    assert parts(last) == 1


def test_a_join_that_is_seeded_twice_counts_no_part_twice():
    first, _, _, last = a_join()
    done(first)
    lifecycle.reseed()
    lifecycle.reseed()
    assert (size(last), parts(last)) == (3, 1)


def test_chains_and_ended_joins_are_not_seeded():
    office = an_office()
    submitted(office, {"ref": "a"}, {"ref": "b", "depends_on": ["a"]})
    jobs = a_join()
    for job in jobs[:3]:
        done(job)
    lifecycle.advance_office(jobs[0].office_id)
    assert lifecycle.reseed() == 0


def test_the_last_part_sends_the_job_once():
    from jobs import redis

    first, second, third, last = a_join()
    key = "default\x06\x163"
    redis.client().delete(key)
    for place, job in enumerate((first, second, third)):
        part = [str(last.id), str(job.id), place, "default", "demo.sum", 3]
        joins.count([part, part])
        joins.count([part])
    waiting = redis.client().lrange(key, 0, -1)
    assert len([message for message in waiting if str(last.id) in message]) == 1
    redis.client().delete(key)
