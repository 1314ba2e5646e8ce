"""A Redis that does not answer delays a caller once and briefly; what it missed is done once it is back."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from celery import current_app
from kombu import pools

from jobs import early_messages, joins, lifecycle, publish, redis, submission, sweeps
from jobs.models import Counter, Execution
from jobs.states import JobStatus
from tests.engine_workers import ended
from tests.factories import an_office, submitted

pytestmark = pytest.mark.django_db(transaction=True)

TWO_WAITS = 2 * redis.ANSWER_SECONDS
JOIN = ({"ref": "a"}, {"ref": "b"}, {"ref": "c", "depends_on": ["a", "b"]})


@contextmanager
def frozen() -> Iterator[None]:
    pid = int(redis.client().info("server")["process_id"])
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    """What a test does to Redis must not pause the callers of the next."""
    yield
    redis._paused_until = 0.0


def seconds_of(act):
    before = time.monotonic()
    answer = act()
    return answer, time.monotonic() - before


def test_a_submission_of_a_join_waits_once_for_a_frozen_redis():
    office = an_office(max_concurrent_jobs=9)
    submitted(office, *JOIN)  # the connections are open
    with frozen():
        jobs, seconds = seconds_of(lambda: submitted(office, *JOIN))
        _, seconds_of_the_next = seconds_of(lambda: submitted(office, *JOIN))
    assert [job.status for job in jobs] == ["processing", "processing", "pending"]
    assert seconds < TWO_WAITS
    assert seconds_of_the_next < redis.ANSWER_SECONDS


def test_an_early_message_waits_once_for_a_frozen_redis(monkeypatch):
    monkeypatch.setattr(early_messages, "IDLE_SECONDS", (0.0, 60.0))
    office = an_office(max_concurrent_jobs=9)

    def submit():
        return lifecycle.submit(submission.read(office, {"task_id": "demo.sum", "args": {"numbers": []}}))

    submit()  # the connection is open, and takes the next message
    early_messages.remember(office.id, idle=True)
    with frozen():
        (job,), seconds = seconds_of(submit)
    assert seconds < TWO_WAITS
    execution = Execution.objects.get(job_id=job)
    assert execution.dispatched_at is not None
    assert execution.sent_count == 0, "the next sweep sends it again"


def test_new_connections_to_a_frozen_redis_wait_once_too():
    office = an_office(max_concurrent_jobs=9)
    with frozen():
        redis.client().connection_pool.disconnect()
        current_app.backend.client.connection_pool.disconnect()
        pools.reset()
        current_app._pool = current_app.amqp._producer_pool = None
        publish._idle_producers.clear()
        _, for_the_sizes = seconds_of(lambda: submitted(office, *JOIN))
        redis._paused_until = 0.0
        _, for_the_message = seconds_of(lambda: submitted(office, {}))
        redis._paused_until = 0.0
        _, for_the_part = seconds_of(lambda: joins.count([["a", "b", 0, "default", "demo.sum", 3]]))
    for seconds in (for_the_sizes, for_the_message, for_the_part):
        assert seconds < TWO_WAITS


def test_a_burst_looks_for_no_message_in_a_redis_that_did_not_answer():
    client = redis.client()
    client.lpush("FE", "waiting")
    assert publish.most_urgent_waiting(["FE"]) == 0
    with suppress(ValueError), redis.circuit_breaker():
        raise ValueError
    assert publish.most_urgent_waiting(["FE"]) == publish.LEVELS[-1]
    client.delete("FE")


def test_nothing_waits_for_a_redis_that_did_not_answer_a_burst():
    publish.most_urgent_waiting(["FE"])  # the connection is open
    with frozen():
        assert publish.most_urgent_waiting(["FE"]) == publish.LEVELS[-1]
        with pytest.raises(redis.Unavailable), redis.circuit_breaker():
            pass


def test_a_submission_to_a_frozen_redis_is_done_by_the_next_sweep_after_it(worker, settings):
    settings.DURE_REPUBLISH_SECONDS = 3600.0
    joins.epoch_is_lost()  # the sweep must not seed because Redis is new
    office = an_office(max_concurrent_jobs=9)
    with frozen():
        jobs = submitted(office, *JOIN)
        assert Counter.objects.filter(name="unseeded").exists()
        assert set(Execution.objects.values_list("sent_count", flat=True)) == {0}
    redis._paused_until = 0.0
    done = sweeps.sweep_once()
    assert (done["reseeded"], done["republished"]) == (1, 2)
    assert not lifecycle.has_unseeded_joins()
    assert [ended(job).status for job in jobs] == [JobStatus.DONE] * 3
    assert sweeps.sweep_once()["reseeded"] == 0


def test_a_sweep_that_meets_a_frozen_redis_leaves_the_joins_to_the_next():
    office = an_office(paused=True)
    submitted(office, *JOIN)
    with frozen():
        assert lifecycle.reseed() == 0
    redis._paused_until = 0.0
    assert lifecycle.has_unseeded_joins()
    assert lifecycle.reseed() == 1
    assert not lifecycle.has_unseeded_joins()
