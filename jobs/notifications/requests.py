"""Asks the control queue to create notifications, and the queue of notifications to send them.

Either message may be lost: the sweep finds the events that have no notifications yet, and what is due.
"""

import logging

from django.conf import settings

from jobs import publish, redis

log = logging.getLogger(__name__)

CREATE_NOTIFICATIONS = "dure.create_notifications"
SEND_NOTIFICATIONS = "dure.send_notifications"
DEBOUNCE_KEY = "dure:create-notifications:{}"
# Longer than a message waits in a control queue that keeps up; a lost message costs no more than this.
DEBOUNCE_SECONDS = 2


def request_creation(office: str) -> None:
    """Have notifications of the office's new events created. One message covers many commits."""
    try:
        with redis.circuit_breaker():
            if not redis.client().set(DEBOUNCE_KEY.format(office), 1, nx=True, ex=DEBOUNCE_SECONDS):
                return
    except redis.ERRORS:
        return  # the broker is away too: the sweep creates them
    publish.send_control(CREATE_NOTIFICATIONS, office, expires=60)


def clear_debounce(office: str) -> None:
    """Call before reading the events, so that a commit after that sends a new message."""
    try:
        with redis.circuit_breaker():
            redis.client().delete(DEBOUNCE_KEY.format(office))
    except redis.ERRORS as error:
        log.warning("notifications of office %s may be late: %s", office, error)


def request_sending() -> None:
    """Have due notifications sent, on a queue of its own: sending waits for other people's servers."""
    publish.send_control(SEND_NOTIFICATIONS, expires=60, queue=settings.DURE_NOTICES_QUEUE)
