"""Tells listeners that something was committed. A message carries no data: listeners read the rows.

Any message may be lost, so every listener also looks by itself now and then.
"""

import logging

from jobs import publish, redis

log = logging.getLogger(__name__)

OFFICE_CHANNEL = "dure:office:{}"
CREATE_NOTIFICATIONS = "dure.create_notifications"
DEBOUNCE_KEY = "dure:create-notifications:{}"
# Longer than a message waits in a control queue that keeps up; a lost message costs no more than this.
DEBOUNCE_SECONDS = 2


def publish_change(office: str) -> None:
    """Tell the sockets that watch this office's events."""
    try:
        redis.client().publish(OFFICE_CHANNEL.format(office), "changed")
    except redis.ERRORS as error:
        log.warning("pub/sub publish failed for office %s; its sockets poll: %s", office, error)


def request_notifications(office: str) -> None:
    """Have the office's webhooks and mail addresses notified. One message stands for many commits."""
    try:
        if not redis.client().set(DEBOUNCE_KEY.format(office), 1, nx=True, ex=DEBOUNCE_SECONDS):
            return
    except redis.ERRORS:
        pass  # the broker is probably away too, and then the sweep creates them
    publish.send_control(CREATE_NOTIFICATIONS, office, expires=60)


def clear_debounce(office: str) -> None:
    """Call before reading the events, so that a commit after that sends a new message."""
    try:
        redis.client().delete(DEBOUNCE_KEY.format(office))
    except redis.ERRORS as error:
        log.warning("notifications of office %s may be late: %s", office, error)
