"""Several listeners share messages, take over those of dead listeners, and dead-letter failures."""

import pytest

from exports import lifecycle, streams, transitions
from exports.listener import Listener
from exports.messages import DEADLETTER, PROGRESS, RESULTS
from exports.models import DeadLetter
from tests.integration import export_tools as tools
from tests.integration.exports.outcomes import after
from tests.workers import eventually

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def short_idle_time(settings):
    settings.DURE_STREAM_CLAIM_SECONDS = 0.1


def test_messages_of_a_dead_listener_are_taken_over(redis, minji) -> None:
    job = tools.export_of(minji)
    tools.listen(redis, "dead")
    tools.ForeignWorker(redis).progress(job, 30)
    assert len(streams.read(redis, "dead", [PROGRESS, RESULTS], 10, None)) == 1
    other = tools.listen(redis, "other")
    tools.drain(other)
    assert after(job).progress == 0
    eventually(other.take_over)
    assert after(job).progress == 30
    assert redis.xpending(PROGRESS, streams.BACKEND)["pending"] == 0


def test_listeners_share_the_messages(redis, minji) -> None:
    jobs = [tools.export_of(minji) for _ in range(4)]
    first, second = tools.listen(redis, "one"), Listener(redis, "two", False)
    for percent in range(1, 50):
        for job in jobs:
            tools.ForeignWorker(redis).progress(job, percent)
    while first.poll(None) + second.poll(None):
        pass
    assert {after(job).progress for job in jobs} == {49}


def test_a_message_delivered_too_often_is_dead_lettered(redis, minji, settings) -> None:
    settings.DURE_STREAM_CLAIM_SECONDS = 0.0
    listener = tools.listen(redis)
    tools.ForeignWorker(redis).progress(tools.export_of(minji), 30)
    streams.read(redis, "a", [PROGRESS], 10, None)
    for name in "bcdef":
        assert len(streams.take_over(redis, name, PROGRESS, 0, 10)) == 1
    listener.take_over()
    assert "delivered 5 times" in DeadLetter.objects.get().reason
    assert redis.xpending(PROGRESS, streams.BACKEND)["pending"] == 0


def test_a_message_that_fails_does_not_fail_its_batch(redis, minji, monkeypatch) -> None:
    good, bad = tools.export_of(minji), tools.export_of(minji)
    worker, real = tools.ForeignWorker(redis), transitions.advance

    def broken(state, message):
        if message.job_id == bad.pk:
            raise ZeroDivisionError
        return real(state, message)

    monkeypatch.setattr(lifecycle, "advance", broken)
    worker.progress(good, 10)
    worker.progress(bad, 10)
    worker.progress(good, 20)
    tools.drain(tools.listen(redis))
    assert after(good).progress == 20
    assert "could not be applied" in DeadLetter.objects.get().reason


def test_streams_keep_messages_that_a_group_has_not_acknowledged(redis, minji) -> None:
    job = tools.export_of(minji)
    listener = tools.listen(redis)
    for percent in range(10):
        tools.ForeignWorker(redis).progress(job, percent)
    redis.xgroup_create(PROGRESS, "somebody-else", id="0")
    tools.drain(listener)
    assert streams.trim(redis, PROGRESS) == 0
    ((_, messages),) = redis.xreadgroup("somebody-else", "x", {PROGRESS: ">"}, count=6)
    ids = [first[0] for first in messages]
    redis.xack(PROGRESS, "somebody-else", *ids[:3])
    assert streams.trim(redis, PROGRESS) == 3
    assert redis.xrange(PROGRESS)[0][0] == ids[3]
    assert streams.trim(redis, DEADLETTER) == 0
