"""Tells listeners that something was committed. A message carries no data: listeners read the rows.

Any message may be lost, so every listener also looks by itself now and then.
"""

import logging
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from jobs import redis

log = logging.getLogger(__name__)

OFFICE_CHANNEL = "dure:office:{}"
RUN_LOG_CHANNEL = "dure:run-log:{}"
# A waiting process also reads this often.
POLL_SECONDS = 1.0

T = TypeVar("T")


def publish_to(channels: Sequence[str]) -> None:
    try:
        with redis.circuit_breaker():
            pipe = redis.client().pipeline(transaction=False)
            for channel in channels:
                pipe.publish(channel, "changed")
            pipe.execute()
    except redis.ERRORS as error:
        log.warning("pub/sub publish failed for %s; the listeners poll: %s", ", ".join(channels), error)


def publish_change(office: str) -> None:
    """Tell the sockets that watch this office's events."""
    publish_to([OFFICE_CHANNEL.format(office)])


def wait_for(channel: str, read: Callable[[], T | None], seconds: float) -> T | None:
    """Call `read` at each message of the channel until it returns something; None if that was not in time."""
    deadline = time.monotonic() + seconds
    with redis.client().pubsub(ignore_subscribe_messages=True) as messages:  # type: ignore[no-untyped-call]
        is_subscribed = _answers(lambda: messages.subscribe(channel))
        while (result := read()) is None and (left := deadline - time.monotonic()) > 0:
            is_subscribed = is_subscribed and _answers(
                lambda: messages.get_message(timeout=min(left, POLL_SECONDS))
            )
            if not is_subscribed:
                time.sleep(min(left, POLL_SECONDS / 4))
    return result


def _answers(command: Callable[[], object]) -> bool:
    try:
        with redis.circuit_breaker():
            command()
    except redis.ERRORS:
        return False
    return True
