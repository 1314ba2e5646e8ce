"""The broker's transport: what goes back when a channel closes, and which message a worker takes next."""

from collections.abc import Iterator

import pytest
from celery import current_app
from kombu.connection import Connection
from kombu.entity import Queue
from kombu.message import Message
from kombu.messaging import Consumer

from jobs.redis import client

NAME, OTHER = "tests-broker", "tests-broker-other"


@pytest.fixture
def connection() -> Iterator[Connection]:
    current_app.loader.import_default_modules()
    with current_app.connection_for_write() as opened:
        queues = [Queue(name, routing_key=name)(opened.default_channel) for name in (NAME, OTHER)]
        for queue in queues:
            queue.declare()
            queue.purge()
        yield opened
        for queue in queues:
            queue.purge()


def in_redis() -> list[str]:
    return sorted(str(key) for key in client().keys("unacked*"))


def put(connection: Connection, text: str, name: str = NAME, level: int = 3) -> None:
    with connection.Producer() as producer:
        producer.publish({"text": text}, exchange="", routing_key=name, serializer="json", priority=level)


def waiting() -> int:
    return sum(client().llen(key) for key in client().scan_iter(f"{NAME}*"))


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


def taken(connection: Connection, count: int) -> list[str]:
    """The queues from which a worker of both takes so many messages."""
    names: list[str] = []

    def take(message: Message) -> None:
        names.append(message.delivery_info["routing_key"])
        message.ack()

    with connection.channel() as channel:
        channel.basic_qos(prefetch_count=1)
        with Consumer(channel, [Queue(NAME), Queue(OTHER)], on_message=take, accept=["json"]):
            while len(names) < count:
                connection.drain_events(timeout=10)
    return names


def test_a_full_queue_does_not_keep_another_of_the_worker_waiting(connection):
    for name in (NAME, OTHER):
        for number in range(4):
            put(connection, str(number), name)
    names = taken(connection, 4)
    assert names.count(NAME) == names.count(OTHER) == 2


def test_a_more_urgent_level_comes_first_in_all_queues(connection):
    for name in (NAME, OTHER):
        for number in range(2):
            put(connection, str(number), name, level=3)
    put(connection, "urgent", NAME, level=0)
    put(connection, "urgent", NAME, level=0)
    assert taken(connection, 2) == [NAME, NAME]
