"""Tells the sockets of an owner that one of their exports has changed."""

from collections.abc import Iterable

from django.db import transaction

from jobs import pubsub

CHANNEL = "dure:exports:{}"


def publish_on_commit(owners: Iterable[int]) -> None:
    channels = [CHANNEL.format(owner) for owner in sorted(set(owners))]
    if channels:
        transaction.on_commit(lambda: pubsub.publish_to(channels))
