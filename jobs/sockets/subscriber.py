"""Subscribes to the channels of jobs/pubsub.py: one connection to Redis for all the sockets of this process.

A message may be lost, so every listener also polls. After each (re)connection every callback is called once,
for whatever was published in between.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable

from redis.asyncio.client import PubSub

from jobs import redis

log = logging.getLogger(__name__)

# A connection that is silent for this long is pinged; after two pings without an answer it is dropped.
SILENCE_SECONDS = 15.0
RECONNECT_SECONDS = 1.0


class Subscriber:
    """Belongs to one event loop. Connected while there is any subscription."""

    def __init__(self, url: str = "") -> None:
        self._url = url
        self._callbacks: dict[str, Callable[[], None]] = {}
        self._pubsub: PubSub | None = None
        self._listener: asyncio.Task[None] | None = None
        # Two commands at once could each open a connection.
        self._lock = asyncio.Lock()

    async def subscribe(self, channel: str, callback: Callable[[], None]) -> None:
        """Call `callback` at each message of the channel, and once as the subscription begins."""
        self._callbacks[channel] = callback
        if self._listener is None:
            self._listener = asyncio.create_task(self._listen(), name="pubsub subscriber")
        else:
            await self._send("subscribe", channel)

    async def unsubscribe(self, channel: str) -> None:
        self._callbacks.pop(channel, None)
        if self._callbacks:
            await self._send("unsubscribe", channel)
        elif self._listener is not None:
            self._listener.cancel()
            self._listener = None

    async def _send(self, command: str, channel: str) -> None:
        async with self._lock:
            # Without a connection there is nothing to send: the next one subscribes to all channels.
            if self._pubsub is not None:
                with contextlib.suppress(*redis.ERRORS):
                    await getattr(self._pubsub, command)(channel)

    async def _listen(self) -> None:
        while True:
            try:
                await self._listen_once()
            except redis.ERRORS as error:
                log.warning("Redis does not answer, so the sockets poll: %s", error)
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _listen_once(self) -> None:
        """Listen until the connection breaks. A silent reconnect would hide that messages were lost."""
        client = redis.connect_async(redis.SUBSCRIBER, self._url)
        try:
            async with client.pubsub() as pubsub:
                async with self._lock:
                    await pubsub.subscribe(*self._callbacks)
                    self._pubsub = pubsub
                try:
                    await self._dispatch(pubsub)
                finally:
                    if self._pubsub is pubsub:
                        self._pubsub = None
        finally:
            await client.aclose()

    async def _dispatch(self, pubsub: PubSub) -> None:
        pings = 0
        while pings < 2:
            message = await pubsub.get_message(timeout=SILENCE_SECONDS)
            if message is None:
                pings += 1
                await pubsub.ping()
                continue
            pings = 0
            # The confirmation of a subscription counts too: earlier messages were missed.
            if message["type"] in ("message", "subscribe"):
                callback = self._callbacks.get(message["channel"])
                if callback is not None:
                    callback()
        raise ConnectionError("the connection is silent")
