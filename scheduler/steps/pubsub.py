"""Tells the sockets of a step queue, and requests that wait for its run, that it has changed."""

from collections.abc import Callable
from typing import TypeVar

from jobs import pubsub
from jobs.sql import call
from scheduler.steps import sql

CHANNEL = "dure:steps:{}"

T = TypeVar("T")


def publish_change(queue_id: int) -> None:
    pubsub.publish_to([CHANNEL.format(queue_id)])


def watch(queue_id: int, seconds: float) -> None:
    """Have the queue's changes published for this long."""
    call.change(sql.WATCH, {"queue": queue_id, "seconds": seconds})


def wait_for(queue_id: int, read: Callable[[], T | None], seconds: float) -> T | None:
    return pubsub.wait_for(CHANNEL.format(queue_id), read, seconds)
