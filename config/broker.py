"""Kombu's Redis transport with one Redis client per channel, instead of one per command.

Creating a client costs more than the command it sends; the connections come from the same pool.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, redis

from config import env


class Unanswered:
    """Takes the place of a channel's client for one message, whose answer is read later."""

    def __init__(self, pool: Any) -> None:
        self.pool = pool
        self.connection = pool.get_connection()

    def lpush(self, *args: Any) -> None:
        self.connection.send_command("LPUSH", *args)

    def read_answer(self) -> None:
        try:
            self.connection.read_response()
        finally:
            self.pool.release(self.connection)


class Channel(redis.Channel):
    _shared_client: Any = None
    _unanswered: Unanswered | None = None

    @contextmanager
    def conn_or_acquire(self, client: Any = None) -> Iterator[Any]:
        yield client or self._unanswered or self._client_of_channel()

    @contextmanager
    def defer_answer(self) -> Iterator[Unanswered]:
        """Put the message that is published within this, and leave Redis' answer to the caller."""
        self._unanswered = Unanswered(self._client_of_channel().connection_pool)
        try:
            yield self._unanswered
        finally:
            self._unanswered = None

    def _client_of_channel(self) -> Any:
        if self._shared_client is None:
            self._shared_client = self._create_client()  # type: ignore[no-untyped-call]
        return self._shared_client


class Transport(redis.Transport):
    Channel = Channel
    # A worker that is stopped waits for the answer to its last request. Kombu's default is an int.
    brpop_timeout: Any = env.seconds("DURE_POLL_SECONDS", 1.0, high=10.0)


# Under its usual names, since Flower and other tools tell the kind of a broker from the scheme of its URL.
for scheme in ("redis", "rediss"):
    TRANSPORT_ALIASES[scheme] = f"{Transport.__module__}:{Transport.__qualname__}"
