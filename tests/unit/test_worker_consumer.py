"""The consumer of a worker's main process."""

import time
from types import SimpleNamespace

import pytest
from kombu.asynchronous import Hub
from kombu.asynchronous.timer import Timer
from kombu.message import Message

from jobs import publish
from jobs.ids import uuid7
from jobs.worker import consumer, give_back
from tests.unit.process_tools import eventually


class Dispatcher:
    """Counts the messages that carry events."""

    def __init__(self):
        self.sent = 0

    def flush(self):
        self.sent += 1


@pytest.fixture
def engine_consumer():
    each = consumer.EngineConsumer.__new__(consumer.EngineConsumer)
    each.hub = Hub(Timer())
    each.event_dispatcher = Dispatcher()
    return each


def fire_when_due(hub):
    until = time.monotonic() + 10
    while hub.timer.queue and time.monotonic() < until:
        hub.fire_timers()


def test_an_early_message_that_is_given_back_is_sent_as_one(engine_consumer, monkeypatch):
    sent = []
    monkeypatch.setattr(
        publish, "send_messages", lambda sends, early: sent.append((sends[0].execution, early))
    )
    monkeypatch.setattr(give_back, "PAUSE_SECONDS", (0.0, 0.0))
    engine_consumer.timer = engine_consumer.hub.timer
    engine_consumer.connection_errors = ()
    execution = str(uuid7())
    headers = {"id": publish.message_id(execution, 1), "task": "try.unknown", publish.EARLY: True}
    message = Message(
        body=f'[["{execution}", 1], {{}}, {{}}]',
        headers=headers,
        delivery_info={"routing_key": "FE"},
        content_type="application/json",
        accept={"application/json"},
    )
    monkeypatch.setattr(message, "reject_log_error", lambda *_: None)
    engine_consumer.on_unknown_task(None, message, KeyError("try.unknown"))
    fire_when_due(engine_consumer.hub)
    assert sent == [(execution, True)]


def test_events_that_follow_each_other_are_sent_together_and_later_ones_too(engine_consumer, monkeypatch):
    # A moment that lasts: however late these calls are, they follow each other.
    monkeypatch.setattr(consumer, "time", SimpleNamespace(monotonic=lambda: 1_000.0))
    for messages in (1, 2):
        for _ in range(10):
            engine_consumer.on_send_event_buffered()
        assert engine_consumer.event_dispatcher.sent == messages - 1
        fire_when_due(engine_consumer.hub)
        assert engine_consumer.event_dispatcher.sent == messages


def test_events_are_sent_after_a_reconnect_that_cleared_the_timer(engine_consumer, monkeypatch):
    monkeypatch.setattr(consumer, "EVENT_SECONDS", 0.01)
    engine_consumer.on_send_event_buffered()
    engine_consumer.hub.timer.clear()
    assert eventually(lambda: engine_consumer.on_send_event_buffered() or engine_consumer.hub.timer.queue)
    fire_when_due(engine_consumer.hub)
    assert engine_consumer.event_dispatcher.sent == 1
