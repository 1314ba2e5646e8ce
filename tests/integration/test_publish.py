"""Messages on their way to Redis."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from jobs import publish, redis

ROLE = "Designer"
MESSAGE = publish.Send("0199c0de-0000-7000-8000-000000000000", 1, ROLE, "demo.sum", 0, 0)


@pytest.fixture(autouse=True)
def clean_queue() -> Iterator[None]:
    redis.client().delete(ROLE)
    yield
    redis.client().delete(ROLE)
    redis._paused_until = 0.0


@contextmanager
def full_redis() -> Iterator[None]:
    """It answers each write with an error."""
    (before,) = redis.client().config_get("maxmemory").values()
    redis.client().config_set("maxmemory", 1)
    try:
        yield
    finally:
        redis.client().config_set("maxmemory", before or 0)


def connection_of_next() -> int:
    with publish.open_producer() as producer, producer.channel.conn_or_acquire() as client:
        return int(client.client_id())


def test_an_early_message_arrives_before_its_answer_is_read():
    answers = [publish.send_early(MESSAGE) for _ in range(2)]
    assert [publish.has_arrived(answer) for answer in answers] == [True, True]
    assert publish.send_messages([MESSAGE])
    assert redis.client().llen(ROLE) == 3


def test_an_early_message_that_redis_refuses_has_not_arrived():
    with full_redis():
        answer = publish.send_early(MESSAGE)
        assert answer is not None
        assert not publish.has_arrived(answer)
        assert publish.send_early(MESSAGE) is None, "no caller tries again at once"
    redis._paused_until = 0.0
    assert publish.has_arrived(publish.send_early(MESSAGE))
    assert redis.client().llen(ROLE) == 1


def test_a_producer_is_made_anew_after_an_error():
    first = connection_of_next()
    assert connection_of_next() == first
    with full_redis():
        assert not publish.send_messages([MESSAGE])
    redis._paused_until = 0.0
    assert publish.send_messages([MESSAGE])
    assert connection_of_next() != first


def test_two_at_once_have_two_connections():
    with publish.open_producer():
        second = connection_of_next()
        assert connection_of_next() == second
    assert connection_of_next() != second


def test_a_forked_process_has_a_connection_of_its_own():
    inherited = connection_of_next()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = 0 if publish.send_messages([MESSAGE]) and connection_of_next() != inherited else 2
        finally:
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert publish.send_messages([MESSAGE])
    assert connection_of_next() == inherited
    assert redis.client().llen(ROLE) == 2
