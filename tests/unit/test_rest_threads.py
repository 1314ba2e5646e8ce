"""Requests use one thread each at a time, and only a limited number waits."""

import asyncio
import threading

import pytest
from asgiref.sync import AsyncToSync
from asgiref.testing import ApplicationCommunicator

from config.handler import QUEUE_FACTOR, Handler, RequestRejected, ThreadPool


def test_a_thread_is_reused_only_when_idle():
    async def scenario() -> list[str]:
        threads, order, go_on = ThreadPool(1), [], threading.Event()

        def view() -> None:
            go_on.wait(60)
            order.append("the first view ended")

        first = await threads.acquire()
        running = asyncio.get_running_loop().run_in_executor(first, view)
        # Its client has left, so the request ends while the view still runs.
        threads.release(first)
        waiting = asyncio.create_task(threads.acquire())
        await asyncio.sleep(0)
        assert not waiting.done()
        go_on.set()
        assert await waiting is first
        order.append("the second request began")
        await running
        return order

    assert asyncio.run(scenario()) == ["the first view ended", "the second request began"]


def test_the_last_used_thread_is_acquired_first():
    async def scenario() -> None:
        threads = ThreadPool(3)
        first, second = await threads.acquire(), await threads.acquire()
        threads.release(second)
        threads.release(first)
        async with asyncio.timeout(60):
            while threads._idle.qsize() < 3:
                await asyncio.sleep(0.001)
        assert await threads.acquire() in (first, second)
        assert await threads.acquire() in (first, second)

    asyncio.run(scenario())


def test_a_request_beyond_the_waiting_limit_is_rejected():
    async def scenario() -> None:
        threads = ThreadPool(1)
        await threads.acquire()
        waiting = [asyncio.create_task(threads.acquire()) for _ in range(QUEUE_FACTOR)]
        await asyncio.sleep(0)
        with pytest.raises(RequestRejected) as refused:
            await threads.acquire()
        assert refused.value.problem.status == 503
        assert refused.value.problem.headers["Retry-After"]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert threads.waiting == 0

    asyncio.run(scenario())


def test_a_request_does_not_return_to_the_loop_before_its_answer(monkeypatch):
    returned = []
    monkeypatch.setattr(AsyncToSync, "__call__", lambda call, *_: returned.append(call.awaitable))
    scope = {"type": "http", "method": "GET", "path": "/favicon.ico", "query_string": b""}

    async def scenario() -> int:
        client = ApplicationCommunicator(Handler(), scope | {"headers": [(b"host", b"localhost")]})
        await client.send_input({"type": "http.request", "body": b""})
        start = await client.receive_output(60)
        await client.wait(60)
        return int(start["status"])

    assert asyncio.run(scenario()) == 302
    assert returned == []
