"""The fan-out: no row is left out or sent twice, and a slow follower delays the others only for a while."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any

import pytest

from jobs.sockets import fanout
from jobs.sockets.base import Close, CloseSocket
from jobs.sockets.fanout import Feed, Row


class Log:
    """A source in memory."""

    def __init__(self, last: int = 0) -> None:
        self.rows: list[Row] = []
        self.reads = self.renewals = 0
        self.append(last)

    def append(self, count: int) -> None:
        self.rows += [{"id": len(self.rows) + number} for number in range(1, count + 1)]

    def forget(self, up_to: int) -> None:
        self.rows = [row for row in self.rows if row["id"] > up_to]

    async def read(self, after: int, limit: int) -> list[Row]:
        self.reads += 1
        await asyncio.sleep(0)
        return [row for row in self.rows if row["id"] > after][:limit]

    async def renew(self) -> None:
        self.renewals += 1


@pytest.fixture(autouse=True)
def small_and_quick(monkeypatch):
    monkeypatch.setattr(fanout, "PAGE", 10)
    monkeypatch.setattr(fanout, "MAX_ROWS", 50)
    monkeypatch.setattr(fanout, "LAGGARD_SECONDS", 0.2)
    monkeypatch.setattr(fanout, "DEBOUNCE_SECONDS", 0.001)


def following(test: Callable[[Feed[Log]], Coroutine[Any, Any, None]], last: int = 0) -> None:
    async def whole() -> None:
        feed = Feed(Log(last))
        reader = asyncio.create_task(feed.run())
        try:
            async with asyncio.timeout(60):
                await test(feed)
        finally:
            reader.cancel()

    asyncio.run(whole())


async def taken(feed: Feed[Log], after: int, count: int) -> list[int]:
    ids: list[int] = []
    async with aclosing(feed.rows(after)) as rows:
        async for row in rows:
            ids.append(row["id"])
            if len(ids) == count:
                break
    return ids


def test_a_late_follower_gets_earlier_and_later_rows():
    async def test(feed: Feed[Log]) -> None:
        follower = asyncio.create_task(taken(feed, 5, 35))
        await asyncio.sleep(0)
        feed.source.append(10)
        feed.wake()
        assert await follower == list(range(6, 41))

    following(test, last=30)


def test_followers_that_start_during_traffic_miss_nothing():
    async def test(feed: Feed[Log]) -> None:
        followers = []
        for place in range(40):
            followers.append(asyncio.create_task(taken(feed, place * 3, 300 - place * 3)))
            feed.source.append(5)
            feed.wake()
            await asyncio.sleep(0.001)
        for place, follower in enumerate(followers):
            assert await follower == list(range(place * 3 + 1, 301))

    following(test, last=100)


def test_followers_cost_no_reads_of_their_own():
    async def test(feed: Feed[Log]) -> None:
        followers = [asyncio.create_task(taken(feed, 20, 30)) for _ in range(100)]
        await asyncio.sleep(0.05)
        before = feed.source.reads
        for _ in range(30):
            feed.source.append(1)
            feed.wake()
            await asyncio.sleep(0.002)
        assert await asyncio.gather(*followers) == [list(range(21, 51))] * 100
        assert feed.source.reads - before <= 32

    following(test, last=20)


def test_a_burst_longer_than_the_list_closes_no_follower_that_reads():
    async def test(feed: Feed[Log]) -> None:
        followers = [asyncio.create_task(taken(feed, 0, 1_000)) for _ in range(5)]
        await asyncio.sleep(0.01)
        feed.source.append(1_000)
        feed.wake()
        assert await asyncio.gather(*followers) == [list(range(1, 1_001))] * 5

    following(test)


def test_a_follower_that_reads_nothing_is_closed_and_the_others_continue(monkeypatch):
    waits: list[bool] = []
    wait_for_laggards = Feed._wait_for_laggards

    async def count(feed: Feed[Log], new_base: int) -> None:
        waits.append(any(follower.last <= 1 for follower in feed._followers))
        await wait_for_laggards(feed, new_base)

    monkeypatch.setattr(Feed, "_wait_for_laggards", count)

    async def test(feed: Feed[Log]) -> None:
        async with aclosing(feed.rows(0)) as lazy:
            first = asyncio.create_task(anext(lazy))
            await asyncio.sleep(0.01)
            feed.source.append(1)
            feed.wake()
            assert (await first)["id"] == 1
            eager = asyncio.create_task(taken(feed, 0, 200))
            feed.source.append(199)
            feed.wake()
            assert await eager == list(range(1, 201))
            # The list waits once for the slow follower, and not at each of the fifteen pages beyond it.
            assert (sum(waits), len(waits) > 14) == (1, True)
            with pytest.raises(CloseSocket) as closed:
                await anext(lazy)
        assert closed.value.code == Close.TOO_SLOW

    following(test)


def test_a_follower_does_not_wait_for_rows_that_were_deleted():
    async def test(feed: Feed[Log]) -> None:
        assert await taken(feed, 29, 1) == [30]
        ahead = asyncio.create_task(taken(feed, 30, 1))
        await asyncio.sleep(0.01)
        feed.source.forget(30)
        behind = asyncio.create_task(taken(feed, 10, 1))
        await asyncio.sleep(0.01)
        feed.source.rows.append({"id": 31})
        feed.wake()
        assert [await ahead, await behind] == [[31], [31]]

    following(test, last=30)


def test_a_lost_message_costs_one_poll(monkeypatch):
    monkeypatch.setattr(fanout, "POLL_SECONDS", 0.05)

    async def test(feed: Feed[Log]) -> None:
        follower = asyncio.create_task(taken(feed, 0, 1))
        await asyncio.sleep(0.02)
        feed.source.append(1)
        assert await follower == [1]

    following(test)


def test_a_source_is_renewed_while_there_are_followers(monkeypatch):
    monkeypatch.setattr(fanout, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(fanout, "RENEW_SECONDS", 0.03)

    async def test(feed: Feed[Log]) -> None:
        follower = asyncio.create_task(taken(feed, 0, 1))
        while feed.source.renewals < 3:
            await asyncio.sleep(0.01)
        feed.source.append(1)
        await follower

    following(test)
