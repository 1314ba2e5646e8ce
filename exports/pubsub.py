"""Rings for the sockets of an owner after a commit. A bell carries no news, only "look"."""

import logging
from collections.abc import Iterable

from django.db import transaction

from jobs import redis

log = logging.getLogger(__name__)

CHANNEL = "dure:exports:{}"


def ring_after_commit(owners: Iterable[int]) -> None:
    wanted = sorted(set(owners))
    if wanted:
        transaction.on_commit(lambda: ring(wanted))


def ring(owners: Iterable[int]) -> None:
    try:
        pipe = redis.client().pipeline(transaction=False)
        for owner in owners:
            pipe.publish(CHANNEL.format(owner), "look")
        pipe.execute()
    except redis.ERRORS as error:
        log.warning("could not ring for exports; the sockets look again by themselves: %s", error)
