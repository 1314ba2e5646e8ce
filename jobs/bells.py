"""Tells those who watch or wait that something was committed. A bell carries no news, only "look"."""

import logging

from jobs import publish, redis

log = logging.getLogger(__name__)

OFFICE_CHANNEL = "dure:office:{}"
DELIVER = "dure.deliver"


def ring(office: str) -> None:
    """For the sockets that watch this office's events; they read the rows themselves."""
    try:
        redis.client().publish(OFFICE_CHANNEL.format(office), "look")
    except redis.ERRORS as error:
        log.warning("could not ring for office %s; its sockets look again by themselves: %s", office, error)


def notify(office: str) -> None:
    """For the webhooks and the mail of this office."""
    publish.control(DELIVER, office, expires=60)
