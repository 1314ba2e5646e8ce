"""The base of all sockets: a snapshot, then events and heartbeats, and a close with a reason.

One JSON object a frame. A client that comes back after any close with the last id it saw misses nothing.
Not guaranteed: that every event arrives on this one connection.

Channels' JSON consumer is not used: it hands each frame to the one thread that all its consumers share, and
the time-out for slow clients, the limits and the three concurrent tasks would stand here all the same.
"""

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from enum import IntEnum
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from jobs.api.framework import strict_json
from jobs.ids import parse_number
from jobs.sockets.credentials import Credentials, are_valid
from jobs.sockets.database import in_database

log = logging.getLogger(__name__)

MAX_FRAME_BYTES = 16 * 1024
MAX_FRAMES_A_SECOND = 100
DATABASE_ERRORS = (OperationalError, InterfaceError)


class Close(IntEnum):
    """The close codes of sockets; their names are the reasons. uvicorn sends 1012 when it stops."""

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


class CloseSocket(Exception):
    """Closes the socket with a code."""

    def __init__(self, code: Close) -> None:
        super().__init__(code.name)
        self.code = code


class NotFound(CloseSocket):
    """There is nothing at this address for this user."""

    def __init__(self) -> None:
        super().__init__(Close.NOT_YOURS)


class _Disconnected(Exception):
    """The client has left."""


class Socket:
    """An ASGI application, one instance a connection. Subclasses implement `snapshot` and `events`."""

    heartbeat_seconds = 20.0
    # A client that accepts no data for this long is disconnected; it reconnects with the last id it saw.
    slow_seconds = 10.0
    # How long it may take to read why it was disconnected.
    close_seconds = 30.0

    scope: dict[str, Any]
    credentials: Credentials

    async def snapshot(self) -> tuple[int, Any]:
        """The last id that `data` already includes, and `data`. Raises NotFound."""
        raise NotImplementedError

    def events(self, after: int) -> AsyncGenerator[dict[str, Any]]:
        """Every later event, each with `type` and `id`, for as long as the socket is open."""
        raise NotImplementedError

    @classmethod
    def as_asgi(cls) -> Any:
        async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
            await cls()._serve(scope, receive, send)

        return application

    @property
    def after(self) -> int | None:
        """The id after which the client wants to continue."""
        text = self.scope["query"].get("after")
        if text is None:
            return None
        number = parse_number(text)
        if number is None:
            raise CloseSocket(Close.MALFORMED)
        return number

    # --- The same for all of them ---------------------------------------------------------------

    async def _serve(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        self.scope, self._send = scope, send
        if (await receive())["type"] != "websocket.connect":
            return
        try:
            await send({"type": "websocket.accept"})
            if scope["credentials"] is None:
                await self._close(Close.NO_CREDENTIALS)
                return
            self.credentials = scope["credentials"]
            code = await _first_result(
                self._read_frames(receive),
                self._until_closed(self._send_events),
                self._until_closed(self._send_heartbeats),
            )
            if code is not None:
                await self._close(code)
        except (_Disconnected, OSError):
            return

    async def _send_events(self) -> None:
        """The snapshot and the events, until there are no more."""
        last_id, data = await self.snapshot()
        await self._send_json({"type": "snapshot", "last_id": last_id, "data": data})
        # Closed here, not when it is garbage-collected: it may hold a place in a feed.
        async with aclosing(self.events(last_id)) as events:
            async for event in events:
                await self._send_json(event)

    async def _until_closed(self, send: Callable[[], Coroutine[Any, Any, None]]) -> Close | None:
        """The close code for the way in which `send` ended."""
        try:
            await send()
        except CloseSocket as close:
            return close.code
        except _Disconnected:
            return None
        except DATABASE_ERRORS as error:
            log.warning("A socket closes because the database does not answer: %s", error)
            return Close.TRY_AGAIN
        except Exception:
            log.exception("A socket failed: %s", self.scope.get("path"))
            return Close.ERROR
        return Close.FINISHED

    async def _send_heartbeats(self) -> None:
        """Show that the connection lives, and check that the credentials are still valid."""
        while True:
            await asyncio.sleep(self.heartbeat_seconds)
            if not await in_database(are_valid, self.credentials, timezone.now()):
                raise CloseSocket(Close.NO_CREDENTIALS)
            await self._send_json({"type": "heartbeat"})

    async def _read_frames(self, receive: Any) -> Close | None:
        """Check and ignore what the client sends; ends when the client leaves or the server stops."""
        second, count = 0, 0
        while True:
            message = await receive()
            if message["type"] == "websocket.disconnect":
                return None
            if (now := int(time.monotonic())) != second:
                second, count = now, 0
            count += 1
            if count > MAX_FRAMES_A_SECOND:
                return Close.TOO_MANY
            if (text := message.get("text")) is None:
                return Close.UNSUPPORTED
            if len(raw := text.encode()) > MAX_FRAME_BYTES:
                return Close.TOO_BIG
            try:
                if not isinstance(strict_json.loads(raw), dict):
                    return Close.MALFORMED
            except strict_json.InvalidJSON:
                return Close.MALFORMED

    async def _send_json(self, message: dict[str, Any]) -> None:
        """Sending waits while the client's buffer is full, which reveals a client that reads nothing."""
        text = json.dumps(message, cls=DjangoJSONEncoder, ensure_ascii=False, separators=(",", ":"))
        try:
            async with asyncio.timeout(self.slow_seconds):
                await self._send_message({"type": "websocket.send", "text": text})
        except TimeoutError:
            raise CloseSocket(Close.TOO_SLOW) from None

    async def _close(self, code: Close) -> None:
        """A slow client may never read the code; the connection is then dropped without it."""
        try:
            async with asyncio.timeout(self.close_seconds):
                reason = code.name.lower().replace("_", " ")
                await self._send_message({"type": "websocket.close", "code": int(code), "reason": reason})
        except TimeoutError:
            log.info("A socket was dropped: its client reads nothing.")

    async def _send_message(self, message: dict[str, Any]) -> None:
        try:
            await self._send(message)
        except (OSError, RuntimeError) as error:
            # The servers' errors for a closed connection differ; the client has left either way.
            raise _Disconnected from error


class NoSuchSocket(Socket):
    """The socket at every other address."""

    async def snapshot(self) -> tuple[int, Any]:
        raise NotFound


async def _first_result(*parts: Coroutine[Any, Any, Close | None]) -> Close | None:
    """The result of the part that ends first; the others are cancelled."""
    tasks = [asyncio.ensure_future(part) for part in parts]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        # The first finished task in this order wins: the server sends nothing to a client that has left.
        return next(task for task in tasks if task in done).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
