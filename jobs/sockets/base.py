"""What every socket does: a snapshot, then events, a heartbeat, and an end with a reason.

One JSON object a frame. What is promised is that nothing is missed by a client which, after any end,
comes back with the last id it saw; not that every event arrives on this socket.
"""

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from enum import IntEnum
from typing import Any, Self

from django.core.serializers.json import DjangoJSONEncoder
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from jobs.api.framework import strict_json
from jobs.sockets.credentials import Credentials, still_hold
from jobs.sockets.database import in_database

log = logging.getLogger(__name__)

LARGEST_FRAME = 16 * 1024
MESSAGES_A_SECOND = 100


class Close(IntEnum):
    """Why a socket was closed. 1012, restart, is sent by the server itself as it stops."""

    FINISHED = 1000
    UNSUPPORTED = 1003
    MALFORMED = 1007
    TOO_MANY = 1008
    TOO_BIG = 1009
    ERROR = 1011
    TRY_AGAIN = 1013
    NO_CREDENTIALS = 4401
    NOT_YOURS = 4404
    TOO_SLOW = 4408


class NotYours(Exception):
    """There is nothing at this address for this user."""


class Ended(Exception):
    """The socket ends for the reason that this code says."""

    def __init__(self, code: Close) -> None:
        super().__init__(code.name)
        self.code = code


class _Gone(Exception):
    """The client has left."""


class _Slow(Exception):
    """The client takes nothing."""


class Socket:
    """An ASGI application, one instance a connection. A subclass writes `snapshot` and `events`."""

    heartbeat_seconds = 20.0
    # A client that takes nothing for this long is cut off; it comes back with the last id it saw.
    slow_seconds = 10.0

    scope: dict[str, Any]
    credentials: Credentials

    async def snapshot(self) -> tuple[int, Any]:
        """The last id that `data` already includes, and `data`. Raises NotYours."""
        raise NotImplementedError

    def events(self, after: int) -> AsyncGenerator[dict[str, Any]]:
        """Every later event, each with `type` and `id`, for as long as the socket is open."""
        raise NotImplementedError

    async def received(self, message: dict[str, Any]) -> None:
        """Nothing a client says means anything, unless a subclass says so."""

    @classmethod
    def as_asgi(cls) -> Any:
        async def connection(scope: dict[str, Any], receive: Any, send: Any) -> None:
            await cls()._serve(scope, receive, send)

        return connection

    # --- What follows is the same for all of them -----------------------------------------------

    async def _serve(self: Self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        self.scope, self._send = scope, send
        if (await receive())["type"] != "websocket.connect":
            return
        try:
            await send({"type": "websocket.accept"})
            if scope["credentials"] is None:
                await self._close(Close.NO_CREDENTIALS)
                return
            self.credentials = scope["credentials"]
            code = await _first(self._listen(receive), self._talk(), self._beat())
            if code is not None:
                await self._close(code)
        except (_Gone, OSError):
            return

    async def _talk(self) -> Close | None:
        """Snapshot and events, until there are no more, the client lags, or something breaks."""
        try:
            last_id, data = await self.snapshot()
            await self._say({"type": "snapshot", "last_id": last_id, "data": data})
            # Closed here and now, not whenever it is collected: it may hold a place in a feed.
            async with aclosing(self.events(last_id)) as events:
                async for event in events:
                    await self._say(event)
        except Ended as end:
            return end.code
        except NotYours:
            return Close.NOT_YOURS
        except _Slow:
            return Close.TOO_SLOW
        except _Gone:
            return None
        except (OperationalError, InterfaceError) as error:
            log.warning("A socket ends because the database does not answer: %s", error)
            return Close.TRY_AGAIN
        except Exception:
            log.exception("A socket broke: %s", self.scope.get("path"))
            return Close.ERROR
        return Close.FINISHED

    async def _beat(self) -> Close | None:
        """A sign of life in silence, and a look at whether the credentials still hold."""
        while True:
            await asyncio.sleep(self.heartbeat_seconds)
            try:
                if not await in_database(still_hold, self.credentials, timezone.now()):
                    return Close.NO_CREDENTIALS
                await self._say({"type": "heartbeat"})
            except _Slow:
                return Close.TOO_SLOW
            except _Gone:
                return None
            except (OperationalError, InterfaceError):
                return Close.TRY_AGAIN

    async def _listen(self, receive: Any) -> Close | None:
        """What the client says, within limits; ends as the client leaves or the server stops."""
        second, count = 0, 0
        while True:
            message = await receive()
            if message["type"] == "websocket.disconnect":
                return None
            if (now := int(time.monotonic())) != second:
                second, count = now, 0
            count += 1
            if count > MESSAGES_A_SECOND:
                return Close.TOO_MANY
            if (text := message.get("text")) is None:
                return Close.UNSUPPORTED
            if len(raw := text.encode()) > LARGEST_FRAME:
                return Close.TOO_BIG
            try:
                said = strict_json.loads(raw)
            except strict_json.BadJSON:
                return Close.MALFORMED
            if not isinstance(said, dict):
                return Close.MALFORMED
            await self.received(said)

    async def _say(self, message: dict[str, Any]) -> None:
        """The server waits while the client's buffer is full, and so notices one that takes nothing."""
        text = json.dumps(message, cls=DjangoJSONEncoder, ensure_ascii=False, separators=(",", ":"))
        try:
            async with asyncio.timeout(self.slow_seconds):
                await self._deliver({"type": "websocket.send", "text": text})
        except TimeoutError:
            raise _Slow from None

    async def _close(self, code: Close) -> None:
        """A client that lags may never take the code; then the connection is dropped without it."""
        try:
            async with asyncio.timeout(3 * self.slow_seconds):
                reason = code.name.lower().replace("_", " ")
                await self._deliver({"type": "websocket.close", "code": int(code), "reason": reason})
        except TimeoutError:
            log.info("A socket was dropped: its client takes nothing.")

    async def _deliver(self, message: dict[str, Any]) -> None:
        try:
            await self._send(message)
        except (OSError, RuntimeError) as error:
            # The server's words for "already closed" differ; there is nobody to tell either way.
            raise _Gone from error


class NoSuchSocket(Socket):
    """What stands at every other address."""

    async def snapshot(self) -> tuple[int, Any]:
        raise NotYours


async def _first(*parts: Coroutine[Any, Any, Close | None]) -> Close | None:
    """The result of whichever part ends first; the others are stopped."""
    tasks = [asyncio.ensure_future(part) for part in parts]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        # In the order given: a client that has left is told nothing.
        return next(task for task in tasks if task in done).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
