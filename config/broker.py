"""Kombu's Redis transport, with one client for a channel's commands instead of a new one for each.

Making a client costs more than the command it sends; its connections come from the same pool.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kombu.transport import redis


class Channel(redis.Channel):
    _kept_client: Any = None

    @contextmanager
    def conn_or_acquire(self, client: Any = None) -> Iterator[Any]:
        if client is None:
            if self._kept_client is None:
                self._kept_client = self._create_client()  # type: ignore[no-untyped-call]
            client = self._kept_client
        yield client


class Transport(redis.Transport):
    Channel = Channel
