"""Drains a worker: it takes no new messages and finishes its runs, until an operator resumes it.

Each connection to the broker gets a gate, so a drained worker stays drained after a reconnect. A worker that
is restarted is not drained.
"""

from typing import Any

from celery import bootsteps

from jobs.worker import bursts, stopping

_closed = False


class ConsumerGate(bootsteps.StartStopStep):  # type: ignore[misc]
    """A step of the consumer, so that it applies before each new connection's first message."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, consumer: Any) -> None:
        channel = consumer.task_consumer.channel
        can_consume = channel.qos.can_consume

        def is_read() -> bool:
            # The last poll of Redis may still be open. Its answer has to be read, or a message would be left
            # in the socket; it has no consumer any more, so it is returned to its queue. A worker that stops
            # cold does so between any two lines of Celery's loop, and has no pool then that could be asked.
            if _closed or stopping.is_cold():
                return bool(getattr(channel, "_in_poll", None))
            return bool(can_consume())

        channel.qos.can_consume = is_read


def is_closed() -> bool:
    return _closed


def close(consumer: Any) -> None:
    global _closed  # noqa: PLW0603 (one worker in a process)
    _closed = True
    bursts.stop()
    consumer.task_consumer.cancel()


def reopen(consumer: Any) -> None:
    global _closed  # noqa: PLW0603
    _closed = False
    bursts.resume()
    consumer.task_consumer.consume()
