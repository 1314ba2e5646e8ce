"""The two ways to reach the network.

`AsyncClient` awaits all of its input and output here. Over `BlockingTransport` its coroutines never suspend,
so `Client` runs them without an event loop.
"""

import asyncio
import time
from collections.abc import AsyncIterator

import httpx


class BlockingTransport:
    def __init__(self) -> None:
        self._http = httpx.Client()

    async def send(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        return self._http.send(request, stream=stream)

    async def chunks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        for chunk in response.iter_bytes():
            yield chunk

    async def close_response(self, response: httpx.Response) -> None:
        response.close()

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def close(self) -> None:
        self._http.close()


class AsyncTransport:
    def __init__(self) -> None:
        self._http = httpx.AsyncClient()

    async def send(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        return await self._http.send(request, stream=stream)

    async def chunks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        async for chunk in response.aiter_bytes():
            yield chunk

    async def close_response(self, response: httpx.Response) -> None:
        await response.aclose()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        await self._http.aclose()


Transport = AsyncTransport | BlockingTransport
