"""Kombu's Redis transport with one Redis client per channel, instead of one per command.

Creating a client costs more than the command it sends; the connections come from the same pool.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, redis

from config import env


class Channel(redis.Channel):
    _shared_client: Any = None

    @contextmanager
    def conn_or_acquire(self, client: Any = None) -> Iterator[Any]:
        if client is None:
            if self._shared_client is None:
                self._shared_client = self._create_client()  # type: ignore[no-untyped-call]
            client = self._shared_client
        yield client


class Transport(redis.Transport):
    Channel = Channel
    # A worker that is stopped waits for the answer to its last request. Kombu's default is an int.
    brpop_timeout: Any = env.seconds("DURE_POLL_SECONDS", 1.0, high=10.0)


# Under its usual names, since Flower and other tools tell the kind of a broker from the scheme of its URL.
for scheme in ("redis", "rediss"):
    TRANSPORT_ALIASES[scheme] = f"{Transport.__module__}:{Transport.__qualname__}"
