"""The streams, sockets and downloads of exports: messages a second, events to 500 clients, memory for 1 GiB.

    make bench ARGS=exports    or, with servers of your own:  python -m tests.bench.exports [--sockets 500]

Reach: 2,000 messages/s through the listener; an event within 250 ms (p99) at 500 sockets of one web
process, each with an export of its own user; the same when all of them are one user's. While 1 GiB is
downloaded, by one and then by four at once, the web process grows by less than 32 MiB.
"""

import argparse
import asyncio
import json
import os
import statistics
import threading
import time
from pathlib import Path
from typing import Any

from tests.bench.measurement import resident_mib
from tests.bench.scratch import scratch

JOBS, MESSAGES = 100, 10_000
MIB, GIB = 2**20, 2**30


def measure_listener(redis: Any, jobs: list[Any]) -> None:
    import random

    from exports.listener import Listener
    from exports.messages import PROGRESS, Progress

    batch = [Progress(job.pk, n % 100, "RENDERING") for job in jobs for n in range(MESSAGES // JOBS)] * 3
    random.Random(3).shuffle(batch)
    pipe = redis.pipeline(transaction=False)
    for message in batch:
        pipe.xadd(PROGRESS, message.fields())
    pipe.execute()
    listener = Listener(redis, "bench", worker=False)
    listener.start()
    began = time.perf_counter()
    while listener.poll(None):
        pass
    rate = len(batch) / (time.perf_counter() - began)
    print(
        f"listener, {MESSAGES} messages three times over, shuffled   {rate:,.0f} messages/s  (target 2,000)"
    )


def measure_downloads(web: Any, job: Any, token: str) -> None:
    """The file is sparse: this measures the web process, not the disk."""
    from exports.models import ExportJob
    from exports.states import Status

    path = Path(os.environ["DURE_EXPORT_PATH"]).joinpath(*job.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(GIB)
    now = job.created_at
    ExportJob.objects.filter(pk=job.pk).update(
        status=Status.SUCCEEDED,
        ended_at=now,
        result_uri="/".join(job.output),
        result_checksum="ab" * 32,
        result_size=GIB,
    )
    headers = {"Authorization": f"Token {token}"}
    most = [0]

    def download() -> None:
        got, answer = 0, web.request("GET", f"/api/jobs/{job.pk}/result", b"", headers)
        while chunk := answer.read(4 * MIB):
            got += len(chunk)
            if got % (64 * MIB) == 0:
                most[0] = max(most[0], int(resident_mib(web.process.pid) * MIB))
        assert got == GIB

    web.request("GET", f"/api/jobs/{job.pk}", b"", headers).read()
    for clients in (1, 4):
        before, most[0], began = resident_mib(web.process.pid), 0, time.perf_counter()
        threads = [threading.Thread(target=download) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rate = clients * 1024 / (time.perf_counter() - began)
        grown = most[0] / MIB - before
        print(
            f"1 GiB downloaded by {clients}, {rate:.0f} MiB/s in all: grows by {grown:.0f} MiB  (target < 32)"
        )


async def measure_sockets(name: str, port: int, tokens: list[str], send_report: Any, rounds: int) -> None:
    from websockets.asyncio.client import connect

    address = f"ws://127.0.0.1:{port}/ws/jobs"
    sockets = []
    for token in tokens:
        headers = {"Authorization": f"Token {token}"}
        sockets.append(
            await connect(address, additional_headers=headers, ping_interval=None, open_timeout=60)
        )
    delays: list[float] = []

    async def receive_events(ws: Any) -> None:
        while True:
            event = json.loads(await ws.recv())
            if event["type"] == "job.progress":
                delays.append(time.time() - float(event["message"]))

    for ws in sockets:
        json.loads(await ws.recv())
    receivers = [asyncio.create_task(receive_events(ws)) for ws in sockets]
    for number in range(rounds):
        expected = len(delays) + await asyncio.to_thread(send_report, number + 1)
        until = time.monotonic() + 20
        while len(delays) < expected and time.monotonic() < until:
            await asyncio.sleep(0.01)
    for task in receivers:
        task.cancel()
    for ws in sockets:
        await ws.close()
    p50, p99 = statistics.median(delays), statistics.quantiles(delays, n=100)[98]
    print(f"{name:<44} {len(delays)} events, p50 {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms  (target 250)")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sockets", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    with scratch(DURE_RATE_USER="1000000/min", DURE_RATE_REFUSED="1000000/min") as folder:
        os.environ["DURE_EXPORT_PATH"], os.environ["DURE_REPLAY_PATH"] = str(folder / "e"), str(folder / "r")
        measure_all(folder, options.sockets, options.rounds)


def measure_all(folder: Path, count: int, rounds: int) -> None:
    from django.conf import settings
    from django.db import connection
    from django.utils import timezone

    from exports import streams
    from exports.listener import Listener, run
    from exports.messages import PROGRESS, Progress
    from jobs.models.access import ApiToken
    from tests.integration import export_tools as tools
    from tests.integration.web_process import running

    settings.DURE_EXPORT_PATH, settings.DURE_REPLAY_PATH = folder / "e", folder / "r"
    redis = streams.connect(settings.REDIS_URL)
    users = [tools.user(f"user{number}") for number in range(count)]
    measure_listener(redis, [tools.export_of(users[0]) for _ in range(JOBS)])
    jobs = [tools.export_of(user) for user in users]
    tokens = [ApiToken.issue(user, "bench", timezone.now())[1] for user in users]
    stop = threading.Event()
    listener = threading.Thread(target=run, args=(Listener(redis, "loop", worker=False), stop.is_set))
    listener.start()
    speaker = streams.connect(settings.REDIS_URL)

    def report_from_one(job: Any, heard_by: int) -> Any:
        def send_report(number: int) -> int:
            speaker.xadd(PROGRESS, Progress(job.pk, number, "RENDERING", repr(time.time())).fields())  # type: ignore[arg-type]
            return heard_by

        return send_report

    def report_from_all(number: int) -> int:
        """Spread over a second, as 500 workers with occasional messages."""
        for job in jobs:
            progress = Progress(job.pk, 50 + number, "RENDERING", repr(time.time()))
            speaker.xadd(PROGRESS, progress.fields())  # type: ignore[arg-type]
            time.sleep(1 / len(jobs))
        return len(jobs)

    with running(folder, "config.web") as web:
        asyncio.run(
            measure_sockets(
                "one event to sockets of one user",
                web.port,
                [tokens[0]] * count,
                report_from_one(jobs[0], count),
                rounds,
            )
        )
        asyncio.run(
            measure_sockets(
                "each socket's own event, 1 s apart in turn", web.port, tokens, report_from_all, rounds // 4
            )
        )
    stop.set()
    listener.join()
    # Another process: this one has used memory for the sockets.
    with running(folder, "config.web") as web:
        measure_downloads(web, tools.export_of(users[0]), tokens[0])
    connection.close()


if __name__ == "__main__":
    main()
