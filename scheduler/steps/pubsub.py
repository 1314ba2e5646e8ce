"""Rings for those who watch a queue or wait for it. A bell carries no news, only "look"."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from redis.client import PubSub

from jobs import redis
from jobs.sql import call
from scheduler.steps import sql

log = logging.getLogger(__name__)

CHANNEL = "dure:steps:{}"
# Whoever listens also looks by themselves this often: a bell may be lost.
LOOK_SECONDS = 1.0

T = TypeVar("T")


def ring(queue_id: int) -> None:
    try:
        redis.client().publish(CHANNEL.format(queue_id), "look")
    except redis.ERRORS as error:
        log.warning("could not ring for queue %s; its watchers look again by themselves: %s", queue_id, error)


def watch(queue_id: int, seconds: float) -> None:
    """Have the queue's changes ring for so long."""
    call.change(sql.WATCH, {"queue": queue_id, "seconds": seconds})


def wait(queue_id: int, look: Callable[[], T | None], seconds: float) -> T | None:
    """What `look` finds, as soon as it finds something; None when that was not in time."""
    until = time.monotonic() + seconds
    with redis.client().pubsub(ignore_subscribe_messages=True) as bell:  # type: ignore[no-untyped-call]
        hears = _subscribed(bell, queue_id)
        while (found := look()) is None and (left := until - time.monotonic()) > 0:
            hears = hears and _heard(bell, min(left, LOOK_SECONDS))
            if not hears:
                time.sleep(min(left, LOOK_SECONDS / 4))
    return found


def _subscribed(bell: PubSub, queue_id: int) -> bool:
    try:
        bell.subscribe(CHANNEL.format(queue_id))
    except redis.ERRORS:
        return False
    return True


def _heard(bell: PubSub, seconds: float) -> bool:
    """False when Redis has gone; whether anything was rung does not matter."""
    try:
        bell.get_message(timeout=seconds)
    except redis.ERRORS:
        return False
    return True
