"""Django under ASGI, with bounds: threads that last, bodies with a limit, files that stream.

Django's own handler starts a thread for each request and throws it away, and the database connection
with it; it spools a body of any size to disk before anybody looks at it; it reads a whole file into
memory before sending it.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO, Any, cast

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse

from jobs.api.framework.middleware import is_api
from jobs.api.framework.problem_details import Refusal, too_large, unavailable

# A client that sends nothing for this long has no body to send.
PATIENCE_SECONDS = 30
# So many requests may wait for each thread; more are told to come back.
QUEUE_FACTOR = 20


class Refused(Exception):
    """The request ends before Django sees it."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.detail)
        self.refusal = refusal


class Threads:
    """Lends out threads, the last used one first, so that few of them hold a connection in quiet times."""

    def __init__(self, count: int) -> None:
        self.most_waiting = count * QUEUE_FACTOR
        self.waiting = 0
        self._idle: asyncio.LifoQueue[ThreadPoolExecutor] = asyncio.LifoQueue()
        for number in range(count):
            self._idle.put_nowait(ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"web-{number}"))

    async def lend(self) -> ThreadPoolExecutor:
        if self.waiting >= self.most_waiting:
            raise Refused(unavailable("overloaded", "Too many requests are waiting; try again.", after=2))
        self.waiting += 1
        try:
            return await self._idle.get()
        finally:
            self.waiting -= 1

    def take_back(self, thread: ThreadPoolExecutor) -> None:
        """Only once it is idle: the view of a client that has left still runs to its end."""
        loop = asyncio.get_running_loop()

        def idle(_: Future[None]) -> None:
            loop.call_soon_threadsafe(self._idle.put_nowait, thread)

        thread.submit(lambda: None).add_done_callback(idle)


class Body:
    """Reads the whole body before a thread is taken, within its limit. Stands in for `receive` after that."""

    def __init__(self, receive: Any) -> None:
        self._receive = receive
        in_memory = settings.FILE_UPLOAD_MAX_MEMORY_SIZE
        self.file: IO[bytes] = tempfile.SpooledTemporaryFile(in_memory)  # noqa: SIM115 (Django closes it)
        self.size = 0

    async def __call__(self) -> Any:
        return await self._receive()

    async def read(self, limit: int) -> bool:
        """Whether it arrived whole; the client may have left."""
        while True:
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    message = await self._receive()
            except TimeoutError:
                raise Refused(Refusal(408, "request_timeout", "The body did not arrive in time.")) from None
            if message["type"] == "http.disconnect":
                return False
            chunk = message.get("body", b"")
            self.size += len(chunk)
            if self.size > limit:
                raise Refused(too_large(limit))
            self.file.write(chunk)
            if not message.get("more_body", False):
                self.file.seek(0)
                return True


class Handler(ASGIHandler):
    def __init__(self) -> None:
        super().__init__()
        self._threads = Threads(settings.DURE_WEB_THREADS)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["path"] == "/healthz":
            # Alive means that this loop turns; waiting for a thread would say something else.
            await self.send_response(JsonResponse({"status": "alive"}), send)
            return
        body = Body(receive)
        try:
            limit, length = limit_of(scope["path"]), announced(scope)
            if length is not None and length > limit:
                raise Refused(too_large(limit))
            if not await body.read(limit):
                body.file.close()
                return
            if length is None:
                # Sent in chunks; without a length DRF would take the body for empty.
                scope = {**scope, "headers": [*scope["headers"], (b"content-length", b"%d" % body.size)]}
            thread = await self._threads.lend()
        except Refused as refused:
            # uvicorn reads on and drops what is left of the body, so that the client gets to the answer.
            refusal = refused.refusal
            response = refusal.response() if is_api(scope["path"]) else _plain(refusal)
            await self.send_response(response, send)
            return
        try:
            async with ThreadSensitiveContext(executor=thread):
                await self.handle(scope, body, send)
        finally:
            self._threads.take_back(thread)

    async def read_body(self, receive: Any) -> IO[bytes]:
        file: IO[bytes] = receive.file
        return file

    async def run_get_response(self, request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = await super().run_get_response(request)
        if isinstance(response, StreamingHttpResponse) and not response.is_async:
            parts = cast(Iterator[bytes], response.streaming_content)
            response.streaming_content = in_thread(parts)
        return response


def limit_of(path: str) -> int:
    large = path in settings.DURE_UPLOAD_PATHS
    return settings.DURE_MAX_UPLOAD_BYTES if large else settings.DATA_UPLOAD_MAX_MEMORY_SIZE


def announced(scope: dict[str, Any]) -> int | None:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value)
    return None


async def in_thread(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """One part at a time; Django would make a list of them all first."""
    while (part := await sync_to_async(lambda: next(parts, None))()) is not None:
        yield part


def _plain(refusal: Refusal) -> HttpResponse:
    return HttpResponse(
        f"{refusal.detail}\n", status=refusal.status, content_type="text/plain", headers=refusal.headers
    )
