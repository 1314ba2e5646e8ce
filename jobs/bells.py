"""Tells those who watch or wait that something was committed. A bell carries no news, only "look"."""

import logging

from jobs import publish, redis

log = logging.getLogger(__name__)

OFFICE_CHANNEL = "dure:office:{}"
DELIVER = "dure.deliver"
TOLD = "dure:told:{}"
# Longer than a message waits in a control queue that keeps up; a lost message costs no more than this.
TOLD_SECONDS = 2


def ring(office: str) -> None:
    """For the sockets that watch this office's events; they read the rows themselves."""
    try:
        redis.client().publish(OFFICE_CHANNEL.format(office), "look")
    except redis.ERRORS as error:
        log.warning("could not ring for office %s; its sockets look again by themselves: %s", office, error)


def notify(office: str) -> None:
    """For the webhooks and the mail of this office. Of many commits at once, one message tells."""
    try:
        if not redis.client().set(TOLD.format(office), 1, nx=True, ex=TOLD_SECONDS):
            return
    except redis.ERRORS:
        pass  # then the broker is hardly there either
    publish.control(DELIVER, office, expires=60)


def heard(office: str) -> None:
    """Whoever does what was rung for calls this before looking, so that a later commit rings again."""
    try:
        redis.client().delete(TOLD.format(office))
    except redis.ERRORS as error:
        log.warning("office %s may be told late: %s", office, error)
