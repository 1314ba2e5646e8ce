"""The real web process, on a free port and the test's database; with a few sockets of its own when asked.

`python -m tests.integration.web_process` is what `python -m config.web` is, and serves SOCKETS too.
Its sockets do not poll: an event that Redis does not announce would not arrive. Its requests wait for their
count, as those of the tests' own process do.
"""

import asyncio
import contextlib
import http.client
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.dev.ports import free_port
from tests.workers import eventually

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass
class Web:
    process: "subprocess.Popen[bytes]"
    port: int
    log: Path

    def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, body, headers or {}, encode_chunked=not isinstance(body, bytes))
        return connection.getresponse()

    def alive(self) -> bool:
        try:
            return self.request("GET", "/healthz").status == 200
        except OSError:
            assert self.process.poll() is None, self.log.read_text()
            return False


@contextlib.contextmanager
def running(folder: Path, module: str = "tests.integration.web_process", **environment: str) -> Iterator[Web]:
    port, log = int(environment.get("PORT", 0)) or free_port(), folder / "web.log"
    data = {**os.environ, "PORT": str(port), "DURE_ENV": "test", **environment}
    with log.open("wb") as output:
        process = subprocess.Popen([sys.executable, "-m", module], cwd=ROOT, env=data, stderr=output)
    web = Web(process, port, log)
    try:
        eventually(web.alive)
        yield web
    finally:
        process.terminate()
        try:
            process.wait(timeout=60)
        finally:
            process.kill()


def main() -> None:
    from config import web
    from jobs import redis
    from jobs.sockets import fanout
    from jobs.sockets.base import Socket
    from jobs.sockets.events import urlpatterns

    class Count(Socket):
        """Counts up from `after`."""

        heartbeat_seconds = 0.3

        async def snapshot(self) -> tuple[int, Any]:
            after = int(self.scope["query"].get("after", "0"))
            return after, {"user": self.credentials.user.username}

        async def events(self, after: int) -> AsyncGenerator[dict[str, Any], None]:
            for number in range(after + 1, 4):
                yield {"id": number, "type": "counted"}
            await asyncio.sleep(3600)

    class Flood(Socket):
        slow_seconds = 0.5

        async def snapshot(self) -> tuple[int, Any]:
            return 0, None

        async def events(self, after: int) -> AsyncGenerator[dict[str, Any], None]:
            while True:
                after += 1
                yield {"id": after, "type": "flood", "filler": "x" * 50_000}

    from django.urls import path

    fanout.POLL_SECONDS = 600.0
    redis.THROTTLE = redis.Profile(30, connect_timeout=30)
    urlpatterns += [path("ws/count", Count.as_asgi()), path("ws/flood", Flood.as_asgi())]
    web.main()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    main()
