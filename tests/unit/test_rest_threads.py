"""Requests borrow threads: one at a time each, and not more wait than can be served."""

import asyncio
import threading

import pytest

from config.handler import QUEUE_FACTOR, Refused, Threads


def test_a_thread_is_lent_again_only_once_it_is_idle():
    async def scenario() -> list[str]:
        threads, order, go_on = Threads(1), [], threading.Event()

        def view() -> None:
            go_on.wait(5)
            order.append("the first view ended")

        first = await threads.lend()
        running = asyncio.get_running_loop().run_in_executor(first, view)
        # Its client has left, so the request ends while the view still runs.
        threads.take_back(first)
        waiting = asyncio.create_task(threads.lend())
        await asyncio.sleep(0)
        assert not waiting.done()
        go_on.set()
        assert await waiting is first
        order.append("the second request began")
        await running
        return order

    assert asyncio.run(scenario()) == ["the first view ended", "the second request began"]


def test_the_last_one_used_is_lent_first():
    async def scenario() -> None:
        threads = Threads(3)
        first, second = await threads.lend(), await threads.lend()
        threads.take_back(second)
        threads.take_back(first)
        async with asyncio.timeout(5):
            while threads._idle.qsize() < 3:
                await asyncio.sleep(0.001)
        assert await threads.lend() in (first, second)
        assert await threads.lend() in (first, second)

    asyncio.run(scenario())


def test_when_too_many_wait_the_next_is_told_to_come_back():
    async def scenario() -> None:
        threads = Threads(1)
        await threads.lend()
        waiting = [asyncio.create_task(threads.lend()) for _ in range(QUEUE_FACTOR)]
        await asyncio.sleep(0)
        with pytest.raises(Refused) as refused:
            await threads.lend()
        assert refused.value.refusal.status == 503
        assert refused.value.refusal.headers["Retry-After"]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert threads.waiting == 0

    asyncio.run(scenario())
