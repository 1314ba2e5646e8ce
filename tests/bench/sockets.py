"""How soon an event reaches every socket of an office: `python -m tests.bench.sockets [sockets] [events]`.

One web process, and all the clients in one other process. The time runs from before the submission to the
moment at which the last client has received the event.
"""

import asyncio
import json
import statistics
import sys
import time
from typing import Any

from tests.bench.measurement import resident_mib
from tests.bench.scratch import scratch

SOCKETS, EVENTS = 500, 20
AIM_SECONDS = 0.25


def main(sockets: int, events: int) -> int:
    with scratch() as folder:
        from django.conf import settings
        from django.utils import timezone

        from jobs.models import ApiToken, Membership
        from jobs.states import MemberRole
        from tests.factories import a_user, an_office
        from tests.integration.web_process import running
        from tests.workers import database_url

        user, office = a_user(), an_office(max_concurrent_jobs=1)
        Membership.objects.create(office=office, user=user, role=MemberRole.VIEWER)
        token = ApiToken.issue(user, "bench", timezone.now())[1]
        urls = {"DATABASE_URL": database_url(), "REDIS_URL": settings.REDIS_URL}
        with running(folder, module="config.web", **urls) as web:
            address = f"ws://127.0.0.1:{web.port}/ws/offices/{office.pk}/events"
            figures = asyncio.run(measure(address, token, office, sockets, events))
            figures["memory of the web process, MiB"] = round(resident_mib(web.process.pid), 1)
    print(json.dumps(figures, indent=2))
    return 0 if figures["last socket, worst event, ms"] <= AIM_SECONDS * 1000 else 1


async def measure(address: str, token: str, office: Any, sockets: int, events: int) -> dict[str, float]:
    from asgiref.sync import sync_to_async
    from websockets.asyncio.client import connect

    from tests.factories import a_job

    headers = {"Authorization": f"Token {token}"}
    started = time.monotonic()
    clients = []
    for first in range(0, sockets, 50):
        clients += await asyncio.gather(
            *(
                connect(address, additional_headers=headers, ping_interval=None, open_timeout=60)
                for _ in range(first, min(first + 50, sockets))
            )
        )
    for client in clients:
        await client.recv()
    opening = time.monotonic() - started
    submit = sync_to_async(a_job)
    await submit(office)  # dispatched; the others stay ready, one event each
    await asyncio.gather(*(client.recv() for client in clients))
    every: list[float] = []
    last: list[float] = []
    for _ in range(events):
        started = time.monotonic()

        async def latency(client: Any, since: float = started) -> float:
            await client.recv()
            return time.monotonic() - since

        waiting = asyncio.gather(*(latency(client) for client in clients))
        await submit(office)
        latencies = await waiting
        every += latencies
        last.append(max(latencies))
    for client in clients:
        await client.close()
    return {
        "sockets": sockets,
        "opened in, s": round(opening, 2),
        "a socket, median, ms": round(1000 * statistics.median(every), 1),
        "a socket, p99, ms": round(1000 * statistics.quantiles(every, n=100)[98], 1),
        "last socket, median event, ms": round(1000 * statistics.median(last), 1),
        "last socket, worst event, ms": round(1000 * max(last), 1),
    }


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(*(numbers + [SOCKETS, EVENTS][len(numbers) :])))
