"""The broker's transport: an unacknowledged message goes back when its channel closes."""

from collections.abc import Iterator

import pytest
from celery import current_app
from kombu.connection import Connection
from kombu.entity import Queue

from jobs.redis import client

NAME = "tests-broker"


@pytest.fixture
def connection() -> Iterator[Connection]:
    current_app.loader.import_default_modules()
    with current_app.connection_for_write() as opened:
        queue = Queue(NAME, routing_key=NAME)(opened.default_channel)
        queue.declare()
        queue.purge()
        yield opened
        queue.purge()


def in_redis() -> list[str]:
    return sorted(str(key) for key in client().keys("unacked*"))


def put(connection: Connection, text: str) -> None:
    with connection.Producer() as producer:
        producer.publish({"text": text}, exchange="", routing_key=NAME, serializer="json")


def waiting() -> int:
    return int(client().llen(NAME))


def test_a_message_in_hand_goes_back_when_its_channel_closes(connection):
    put(connection, "hello")
    with connection.channel() as channel:
        taken = Queue(NAME)(channel).get()
        assert taken.payload == {"text": "hello"}
        assert waiting() == 0
        assert in_redis() == []
    assert waiting() == 1


def test_an_acknowledged_message_does_not_go_back(connection):
    put(connection, "hello")
    with connection.channel() as channel:
        Queue(NAME)(channel).get().ack()
    assert waiting() == 0
