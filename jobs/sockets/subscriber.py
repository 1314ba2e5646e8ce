"""Hears the bells of jobs/pubsub.py: one connection to Redis for all the sockets of this process.

A bell may be lost, here as anywhere: whoever waits for one also looks by itself now and then. After
each (re)connection every bell is rung once, for whatever rang while nobody listened.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

ERRORS = (RedisError, OSError)
# A connection that says nothing for so long is asked whether it lives; twice in vain, and it is dropped.
QUIET_SECONDS = 15.0
PAUSE_SECONDS = 1.0


class Bells:
    """Belongs to one event loop. Connected while anybody wants to hear anything."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._rings: dict[str, Callable[[], None]] = {}
        self._pubsub: PubSub | None = None
        self._listener: asyncio.Task[None] | None = None
        # Two at once could each open a connection.
        self._asking = asyncio.Lock()

    async def hear(self, channel: str, ring: Callable[[], None]) -> None:
        """Have `ring` called whenever that channel says anything, and once as it begins to be heard."""
        self._rings[channel] = ring
        if self._listener is None:
            self._listener = asyncio.create_task(self._listen(), name="bells")
        else:
            await self._ask("subscribe", channel)

    async def forget(self, channel: str) -> None:
        self._rings.pop(channel, None)
        if self._rings:
            await self._ask("unsubscribe", channel)
        elif self._listener is not None:
            self._listener.cancel()
            self._listener = None

    async def _ask(self, command: str, channel: str) -> None:
        async with self._asking:
            # Without a connection there is nothing to tell: the next one begins with all of them.
            if self._pubsub is not None:
                with contextlib.suppress(*ERRORS):
                    await getattr(self._pubsub, command)(channel)

    async def _listen(self) -> None:
        while True:
            try:
                await self._listen_once()
            except ERRORS as error:
                log.warning("Redis does not answer, so the sockets look by themselves: %s", error)
            await asyncio.sleep(PAUSE_SECONDS)

    async def _listen_once(self) -> None:
        """On one connection, until it breaks: mended in secret, nobody would look for what it missed."""
        client = Redis.from_url(
            self._url,
            # redis-py would drop an idle connection after its default of 5 s.
            socket_timeout=None,
            socket_connect_timeout=3,
            socket_keepalive=True,
            retry=Retry(NoBackoff(), 0),
            decode_responses=True,
        )
        try:
            async with client.pubsub() as pubsub:
                async with self._asking:
                    await pubsub.subscribe(*self._rings)
                    self._pubsub = pubsub
                try:
                    await self._pass_on(pubsub)
                finally:
                    if self._pubsub is pubsub:
                        self._pubsub = None
        finally:
            await client.aclose()

    async def _pass_on(self, pubsub: PubSub) -> None:
        asked = 0
        while asked < 2:
            message = await pubsub.get_message(timeout=QUIET_SECONDS)
            if message is None:
                asked += 1
                await pubsub.ping()
                continue
            asked = 0
            # The confirmation of a subscription counts too: what rang before it went unheard.
            if message["type"] in ("message", "subscribe") and (ring := self._rings.get(message["channel"])):
                ring()
        raise ConnectionError("the connection is silent")
