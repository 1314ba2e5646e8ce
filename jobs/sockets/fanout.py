"""Brings rows from the database to any number of sockets with one reader for all of them.

A *source* is whatever has rows with growing ids: an office's events, a user's exports. However many
sockets of this process follow one source, it is read once, when its bell rings and in any case every
few seconds. The rows lie in one list that all followers walk along, each at its own place, so a socket
costs a number and not a queue.

    async with fanout.feed(channel, lambda: SomeSource(...)) as feed, aclosing(feed.rows(after)) as rows:
        async for row in rows:
            ...

Nothing is left out between `after` and the end: a follower that comes late reads from the source by
itself until it meets the list. One that has met it and then falls so far behind that the list moves on
without it is cut off (4408), and comes back with the last id it saw.

Asked of a source: rows become visible in the order of their ids, and `after` is not beyond the newest.
"""

import asyncio
import contextlib
import logging
from bisect import bisect_right
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

from django.conf import settings
from django.db import InterfaceError, OperationalError

from jobs.sockets.base import Close, Ended
from jobs.sockets.subscriber import Bells

log = logging.getLogger(__name__)

Row = dict[str, Any]

PAGE = 200
# So many rows lie ready for those who lag.
KEPT_ROWS = 2_000
# How long the list waits for a laggard before it moves on without it.
PATIENCE_SECONDS = 10.0
# A bell may be lost.
LOOK_SECONDS = 5.0
KEEP_SECONDS = 20.0
# Bells that ring faster than this are answered together.
BREATH_SECONDS = 0.02


class Source(Protocol):
    async def read(self, after: int, limit: int) -> list[Row]:
        """The first rows after that id, in order; each has its `id`."""

    async def keep(self) -> None:
        """Called as the first follower comes, and every 20 s while there are any."""


S = TypeVar("S", bound=Source)


class _Follower:
    def __init__(self, last: int) -> None:
        self.last = last


class Feed(Generic[S]):
    """One source and those who follow it here."""

    def __init__(self, source: S) -> None:
        self.source = source
        self.users = 0
        self._rows: list[Row] = []
        self._ids: list[int] = []
        # The list holds every row after `_base`; None until the first follower has met the end.
        self._base: int | None = None
        self._followers: set[_Follower] = set()
        self._started, self._rung, self._changed = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def ring(self) -> None:
        self._rung.set()

    async def rows(self, after: int) -> AsyncGenerator[Row]:
        """Every row after that id, for as long as the caller asks."""
        me = _Follower(after)
        while (base := self._base) is None or me.last < base:
            page = await self.source.read(me.last, PAGE)
            for row in page:
                yield row
            me.last = page[-1]["id"] if page else me.last
            if len(page) < PAGE:
                # That was all there is; rows that were before the list and are deleted by now included.
                me.last = max(me.last, base or 0)
                self._start(me.last)
        self._followers.add(me)
        try:
            while True:
                changed = self._changed
                for row in self._ready_for(me):
                    yield row
                    me.last = row["id"]
                    self._check_pace(me)
                if me.last >= self._newest():
                    await changed.wait()
        finally:
            self._followers.discard(me)

    def _start(self, at: int) -> None:
        if self._base is None:
            self._base = at
            self._started.set()

    def _ready_for(self, me: _Follower) -> list[Row]:
        self._check_pace(me)
        start = bisect_right(self._ids, me.last)
        return self._rows[start : start + PAGE]

    def _check_pace(self, me: _Follower) -> None:
        if me.last < (self._base or 0):
            raise Ended(Close.TOO_SLOW)

    def _newest(self) -> int:
        return self._ids[-1] if self._ids else (self._base or 0)

    # --- The reader -----------------------------------------------------------------------------

    async def run(self) -> None:
        await self._keep()
        await self._started.wait()
        loop = asyncio.get_running_loop()
        kept = looked = loop.time()
        while True:
            self._rung.clear()
            page = await self._read()
            if page:
                await self._append(page)
            if len(page) == PAGE:
                continue
            looked = loop.time()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._rung.wait(), LOOK_SECONDS)
                await asyncio.sleep(max(0.0, looked + BREATH_SECONDS - loop.time()))
            if loop.time() >= kept + KEEP_SECONDS:
                await self._keep()
                kept = loop.time()

    async def _read(self) -> list[Row]:
        try:
            return await self.source.read(self._newest(), PAGE)
        except (OperationalError, InterfaceError) as error:
            log.warning("The events cannot be read now; the sockets wait: %s", str(error).strip())
            return []

    async def _keep(self) -> None:
        try:
            await self.source.keep()
        except (OperationalError, InterfaceError) as error:
            log.warning(
                "A watch could not be renewed; the sockets look by themselves: %s", str(error).strip()
            )

    async def _append(self, page: list[Row]) -> None:
        surplus = len(self._rows) + len(page) - KEPT_ROWS
        if surplus > 0:
            horizon = self._ids[surplus - 1]
            await self._wait_for_laggards(horizon)
            self._base = horizon
            del self._rows[:surplus], self._ids[:surplus]
        self._rows += page
        self._ids += [row["id"] for row in page]
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def _wait_for_laggards(self, horizon: int) -> None:
        """A burst is not their fault; a client that takes hardly anything must not hold up the others."""
        loop = asyncio.get_running_loop()
        until = loop.time() + PATIENCE_SECONDS
        while laggards := {one for one in self._followers if one.last < horizon}:
            if loop.time() >= until:
                # Waited for once: they learn it when they ask for their next row.
                self._followers -= laggards
                return
            await asyncio.sleep(BREATH_SECONDS)


class Fanout:
    """The feeds of one event loop."""

    def __init__(self) -> None:
        self.feeds: dict[str, Feed[Any]] = {}
        self._readers: dict[str, asyncio.Task[None]] = {}
        self._bells = Bells(settings.REDIS_URL)

    @asynccontextmanager
    async def feed(self, channel: str, make: Callable[[], S]) -> AsyncIterator[Feed[S]]:
        feed: Feed[S] | None = self.feeds.get(channel)
        if feed is None:
            feed = self.feeds[channel] = Feed(make())
        feed.users += 1
        try:
            if channel not in self._readers:
                self._readers[channel] = asyncio.create_task(feed.run(), name=f"feed {channel}")
                await self._bells.hear(channel, feed.ring)
            yield feed
        finally:
            feed.users -= 1
            if feed.users == 0:
                del self.feeds[channel]
                self._readers.pop(channel).cancel()
                await self._bells.forget(channel)


_of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Fanout] = WeakKeyDictionary()


def feed(channel: str, make: Callable[[], S]) -> contextlib.AbstractAsyncContextManager[Feed[S]]:
    """The feed of that Redis channel, shared by all who ask for it here; `make` makes its source at need."""
    loop = asyncio.get_running_loop()
    if loop not in _of_loop:
        _of_loop[loop] = Fanout()
    return _of_loop[loop].feed(channel, make)
