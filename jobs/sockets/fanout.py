"""Brings rows from the database to any number of sockets with one reader for all of them.

A *source* is anything that has rows with growing ids: an office's events, a user's exports. However many
sockets of this process follow a source, it is read once, when a message is published on its channel and in
any case every few seconds. The rows are kept in one list that all followers read, each from its own
position, so a socket costs a number and not a queue.

    async with fanout.feed(channel, lambda: SomeSource(...)) as feed, aclosing(feed.rows(after)) as rows:
        async for row in rows:
            ...

Nothing is left out after `after`: a follower that comes late reads from the source by itself until it
reaches the list. A follower that later falls so far behind that the list moves on without it is closed
(4408), and comes back with the last id it saw.

Required of a source: rows become visible in the order of their ids, and `after` is not beyond the newest.
"""

import asyncio
import contextlib
import logging
from bisect import bisect_right
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

from jobs.sockets.base import DATABASE_ERRORS, Close, CloseSocket, Socket
from jobs.sockets.subscriber import Subscriber

log = logging.getLogger(__name__)

Row = dict[str, Any]

PAGE = 200
# The number of rows kept for slow followers.
MAX_ROWS = 2_000
# The list waits this long for a slow follower before it moves on without it.
LAGGARD_SECONDS = 10.0
# A message may be lost.
POLL_SECONDS = 5.0
RENEW_SECONDS = 20.0
# Messages that arrive faster than this are answered together.
DEBOUNCE_SECONDS = 0.02


class Source(Protocol):
    async def read(self, after: int, limit: int) -> list[Row]:
        """The first rows after that id, in order; each has its `id`."""

    async def renew(self) -> None:
        """Renew the source: for the first follower, then every 20 s while it has followers."""


S = TypeVar("S", bound=Source)


class _Follower:
    def __init__(self, last: int) -> None:
        self.last = last


class Feed(Generic[S]):
    """One source and its followers in this process."""

    def __init__(self, source: S) -> None:
        self.source = source
        self.users = 0
        self._rows: list[Row] = []
        self._ids: list[int] = []
        # The list holds every row after `_base`; None until the first follower has reached the end.
        self._base: int | None = None
        self._followers: set[_Follower] = set()
        self._started, self._woken, self._changed = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def wake(self) -> None:
        """Read the source soon."""
        self._woken.set()

    async def rows(self, after: int) -> AsyncGenerator[Row]:
        """Every row after that id, for as long as the caller iterates."""
        follower = _Follower(after)
        while (base := self._base) is None or follower.last < base:
            page = await self.source.read(follower.last, PAGE)
            for row in page:
                yield row
            follower.last = page[-1]["id"] if page else follower.last
            if len(page) < PAGE:
                # The end; rows before the list that are deleted by now are skipped.
                follower.last = max(follower.last, base or 0)
                self._start(follower.last)
        self._followers.add(follower)
        try:
            while True:
                changed = self._changed
                for row in self._next_rows(follower):
                    yield row
                    follower.last = row["id"]
                    self._check_pace(follower)
                if follower.last >= self._newest():
                    await changed.wait()
        finally:
            self._followers.discard(follower)

    def _start(self, base: int) -> None:
        if self._base is None:
            self._base = base
            self._started.set()

    def _next_rows(self, follower: _Follower) -> list[Row]:
        self._check_pace(follower)
        start = bisect_right(self._ids, follower.last)
        return self._rows[start : start + PAGE]

    def _check_pace(self, follower: _Follower) -> None:
        if follower.last < (self._base or 0):
            raise CloseSocket(Close.TOO_SLOW)

    def _newest(self) -> int:
        return self._ids[-1] if self._ids else (self._base or 0)

    # --- The reader -----------------------------------------------------------------------------

    async def run(self) -> None:
        await self._renew()
        await self._started.wait()
        loop = asyncio.get_running_loop()
        renewed_at = loop.time()
        while True:
            self._woken.clear()
            page = await self._read()
            if page:
                await self._append(page)
            if len(page) == PAGE:
                continue
            read_at = loop.time()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), POLL_SECONDS)
                await asyncio.sleep(max(0.0, read_at + DEBOUNCE_SECONDS - loop.time()))
            if loop.time() >= renewed_at + RENEW_SECONDS:
                await self._renew()
                renewed_at = loop.time()

    async def _read(self) -> list[Row]:
        try:
            return await self.source.read(self._newest(), PAGE)
        except DATABASE_ERRORS as error:
            log.warning("The events cannot be read now; the sockets wait: %s", str(error).strip())
            return []

    async def _renew(self) -> None:
        try:
            await self.source.renew()
        except DATABASE_ERRORS as error:
            log.warning("A watch could not be renewed; the sockets poll: %s", str(error).strip())

    async def _append(self, page: list[Row]) -> None:
        surplus = len(self._rows) + len(page) - MAX_ROWS
        if surplus > 0:
            new_base = self._ids[surplus - 1]
            await self._wait_for_laggards(new_base)
            self._base = new_base
            del self._rows[:surplus], self._ids[:surplus]
        self._rows += page
        self._ids += [row["id"] for row in page]
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def _wait_for_laggards(self, new_base: int) -> None:
        """Followers get time to survive a burst; one that reads hardly anything must not delay the others."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + LAGGARD_SECONDS
        while laggards := {follower for follower in self._followers if follower.last < new_base}:
            if loop.time() >= deadline:
                # The list waits for them once; they are closed when they ask for their next row.
                self._followers -= laggards
                return
            await asyncio.sleep(DEBOUNCE_SECONDS)


class Fanout:
    """The feeds of one event loop."""

    def __init__(self) -> None:
        self.feeds: dict[str, Feed[Any]] = {}
        self._readers: dict[str, asyncio.Task[None]] = {}
        self._subscriber = Subscriber()

    @asynccontextmanager
    async def feed(self, channel: str, make: Callable[[], S]) -> AsyncIterator[Feed[S]]:
        feed: Feed[S] | None = self.feeds.get(channel)
        if feed is None:
            feed = self.feeds[channel] = Feed(make())
        feed.users += 1
        try:
            if channel not in self._readers:
                self._readers[channel] = asyncio.create_task(feed.run(), name=f"feed {channel}")
                await self._subscriber.subscribe(channel, feed.wake)
            yield feed
        finally:
            feed.users -= 1
            if feed.users == 0:
                del self.feeds[channel]
                self._readers.pop(channel).cancel()
                await self._subscriber.unsubscribe(channel)


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Fanout] = WeakKeyDictionary()


def feed(channel: str, make: Callable[[], S]) -> contextlib.AbstractAsyncContextManager[Feed[S]]:
    """The feed of that channel, one for all followers of this event loop; `make` makes its source at need."""
    loop = asyncio.get_running_loop()
    if loop not in _by_loop:
        _by_loop[loop] = Fanout()
    return _by_loop[loop].feed(channel, make)


class FeedSocket(Socket, Generic[S]):
    """A socket whose events are the rows of a shared feed."""

    def channel(self) -> str:
        raise NotImplementedError

    def source(self) -> S:
        raise NotImplementedError

    def check_access(self, source: S) -> None:
        """Check access before each event. Raises NotFound if the user may not see the source any more."""

    async def events(self, after: int) -> AsyncGenerator[Row]:
        async with feed(self.channel(), self.source) as shared, aclosing(shared.rows(after)) as rows:
            async for row in rows:
                self.check_access(shared.source)
                yield row
