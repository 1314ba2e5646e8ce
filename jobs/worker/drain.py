"""Drains a worker: it takes nothing new, finishes what it runs, and says so, until it is taken back.

The way from the queues to the worker has a gate, which is closed here and stays closed: each connection
to the broker gets its own, so a reconnect opens nothing. A worker that is started anew is not drained.
"""

from typing import Any

from celery import bootsteps

_closed = False


class Gate(bootsteps.StartStopStep):  # type: ignore[misc]
    """A step of the consumer, so that it stands before each new connection's first message."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, consumer: Any) -> None:
        channel = consumer.task_consumer.channel
        may = channel.qos.can_consume
        # The last question to Redis may still be open. Its answer has to be read, or a message would
        # lie in the socket; there is no consumer for it any more, so it goes back to its queue.
        channel.qos.can_consume = lambda: bool(getattr(channel, "_in_poll", None)) if _closed else may()


def is_closed() -> bool:
    return _closed


def close(consumer: Any) -> None:
    global _closed  # noqa: PLW0603 (one worker in a process)
    _closed = True
    consumer.task_consumer.cancel()


def open_again(consumer: Any) -> None:
    global _closed  # noqa: PLW0603
    _closed = False
    consumer.task_consumer.consume()
