"""Django's ASGI handler with limits: a thread pool, a maximum size of bodies, and streamed files.

Django's own handler starts a thread for each request and discards it together with the database connection;
it writes a body of any size to disk before a view can check it; and it reads a whole file into memory before
sending it.
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
from jobs.api.framework.problem_details import ProblemDetails, too_large, unavailable

# The longest pause between two parts of a body.
BODY_TIMEOUT_SECONDS = 30
# The number of requests that may wait for each thread; others are answered with 503.
QUEUE_FACTOR = 20


class RequestRejected(Exception):
    """The request is answered before Django handles it."""

    def __init__(self, problem: ProblemDetails) -> None:
        super().__init__(problem.detail)
        self.problem = problem


class ThreadPool:
    """A pool that reuses the last used thread first, so that few threads hold a connection at low load."""

    def __init__(self, count: int) -> None:
        self.max_waiting = count * QUEUE_FACTOR
        self.waiting = 0
        self._idle: asyncio.LifoQueue[ThreadPoolExecutor] = asyncio.LifoQueue()
        for number in range(count):
            self._idle.put_nowait(ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"web-{number}"))

    async def acquire(self) -> ThreadPoolExecutor:
        if self.waiting >= self.max_waiting:
            raise RequestRejected(
                unavailable("overloaded", "Too many requests are waiting; try again.", after=2)
            )
        self.waiting += 1
        try:
            return await self._idle.get()
        finally:
            self.waiting -= 1

    def release(self, thread: ThreadPoolExecutor) -> None:
        """Return the thread once it is idle: the view of a disconnected client still runs to its end."""
        loop = asyncio.get_running_loop()

        def put_back(_: Future[None]) -> None:
            loop.call_soon_threadsafe(self._idle.put_nowait, thread)

        thread.submit(lambda: None).add_done_callback(put_back)


class Body:
    """Reads the whole body, up to its limit, before a thread handles it. Then it replaces `receive`."""

    def __init__(self, receive: Any) -> None:
        self._receive = receive
        in_memory = settings.FILE_UPLOAD_MAX_MEMORY_SIZE
        self.file: IO[bytes] = tempfile.SpooledTemporaryFile(in_memory)  # noqa: SIM115 (Django closes it)
        self.size = 0

    async def __call__(self) -> Any:
        return await self._receive()

    async def read(self, limit: int) -> bool:
        """Return whether the whole body arrived; it is False if the client has disconnected."""
        while True:
            try:
                async with asyncio.timeout(BODY_TIMEOUT_SECONDS):
                    message = await self._receive()
            except TimeoutError:
                raise RequestRejected(
                    ProblemDetails(408, "request_timeout", "The body did not arrive in time.")
                ) from None
            if message["type"] == "http.disconnect":
                return False
            chunk = message.get("body", b"")
            self.size += len(chunk)
            if self.size > limit:
                raise RequestRejected(too_large(limit))
            self.file.write(chunk)
            if not message.get("more_body", False):
                self.file.seek(0)
                return True


class Handler(ASGIHandler):
    def __init__(self) -> None:
        super().__init__()
        self._threads = ThreadPool(settings.DURE_WEB_THREADS)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["path"] == "/healthz":
            # The process is alive if the event loop runs; a thread is not needed for that.
            await self.send_response(JsonResponse({"status": "alive"}), send)
            return
        body = Body(receive)
        try:
            limit, length = body_limit(scope["path"]), content_length(scope)
            if length is not None and length > limit:
                raise RequestRejected(too_large(limit))
            if not await body.read(limit):
                body.file.close()
                return
            if length is None:
                # The body was chunked; DRF treats a body without a length as empty.
                scope = {**scope, "headers": [*scope["headers"], (b"content-length", b"%d" % body.size)]}
            thread = await self._threads.acquire()
        except RequestRejected as rejected:
            # uvicorn reads and drops the rest of the body, so that the client receives the answer.
            problem = rejected.problem
            response = problem.response() if is_api(scope["path"]) else _plain(problem)
            await self.send_response(response, send)
            return
        try:
            async with ThreadSensitiveContext(executor=thread):
                await self.handle(scope, body, send)
        finally:
            self._threads.release(thread)

    async def read_body(self, receive: Any) -> IO[bytes]:
        file: IO[bytes] = receive.file
        return file

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: ARG002 (Django passes it)
        """Load it without async parts: none of our middleware and views needs one.

        Django's own middleware alone would be async, and a request would go from the loop to its thread and
        back four times.
        """
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await sync_to_async(self.get_response)(request)

    async def run_get_response(self, request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = await super().run_get_response(request)
        if isinstance(response, StreamingHttpResponse) and not response.is_async:
            parts = cast(Iterator[bytes], response.streaming_content)
            response.streaming_content = iterate_in_thread(parts)
        return response


def body_limit(path: str) -> int:
    large = path in settings.DURE_UPLOAD_PATHS
    return settings.DURE_MAX_UPLOAD_BYTES if large else settings.DATA_UPLOAD_MAX_MEMORY_SIZE


def content_length(scope: dict[str, Any]) -> int | None:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value)
    return None


async def iterate_in_thread(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield one part at a time; Django would first make a list of all parts."""
    while (part := await sync_to_async(lambda: next(parts, None))()) is not None:
        yield part


def _plain(problem: ProblemDetails) -> HttpResponse:
    return HttpResponse(
        f"{problem.detail}\n", status=problem.status, content_type="text/plain", headers=problem.headers
    )
