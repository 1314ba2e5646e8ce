"""Tells listeners that something was committed. A message carries no data: listeners read the rows.

Any message may be lost, so every listener also looks by itself now and then.
"""

import logging
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from jobs import publish, redis

log = logging.getLogger(__name__)

OFFICE_CHANNEL = "dure:office:{}"
RUN_LOG_CHANNEL = "dure:run-log:{}"
CREATE_NOTIFICATIONS = "dure.create_notifications"
DEBOUNCE_KEY = "dure:create-notifications:{}"
# Longer than a message waits in a control queue that keeps up; a lost message costs no more than this.
DEBOUNCE_SECONDS = 2
# A waiting process also reads this often.
POLL_SECONDS = 1.0

T = TypeVar("T")


def publish_to(channels: Sequence[str]) -> None:
    try:
        with redis.answering():
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
        with redis.answering():
            command()
    except redis.ERRORS:
        return False
    return True


def request_notifications(office: str) -> None:
    """Have the office's webhooks and mail addresses notified. One message covers many commits."""
    try:
        with redis.answering():
            if not redis.client().set(DEBOUNCE_KEY.format(office), 1, nx=True, ex=DEBOUNCE_SECONDS):
                return
    except redis.ERRORS:
        return  # the broker is away too: the sweep creates them
    publish.send_control(CREATE_NOTIFICATIONS, office, expires=60)


def clear_debounce(office: str) -> None:
    """Call before reading the events, so that a commit after that sends a new message."""
    try:
        with redis.answering():
            redis.client().delete(DEBOUNCE_KEY.format(office))
    except redis.ERRORS as error:
        log.warning("notifications of office %s may be late: %s", office, error)
