"""The API of jobs over HTTP: from the request to the start, the largest graph, and a cancel of everything.

    python -m tests.bench.api [--rounds 3]

The latency to compare with, of the verb in process and of raw Celery, is in `tests.bench.engine`.
"""

import argparse
import http.client
import json
import random
import time
from pathlib import Path
from typing import Any

from tests.bench.engine import start_latencies
from tests.bench.measurement import CALM, quantile, resident_mib
from tests.bench.scratch import scratch

JOBS, EDGES = 10_000, 100_000


class Caller:
    """A client that keeps its connection, as clients do."""

    def __init__(self, port: int, token: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"}

    def post(self, path: str, body: Any) -> Any:
        self.connection.request("POST", path, json.dumps(body).encode(), self.headers)
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise SystemExit(f"POST {path} answered {answer.status}: {content[:300]!r}")
        return json.loads(content)


def an_office() -> tuple[Any, str]:
    """An office, and a token of its owner."""
    from django.contrib.auth.models import User
    from django.utils import timezone

    from jobs.models import ApiToken, Membership, Office

    user, _ = User.objects.get_or_create(username="bench")
    office = Office.objects.create(name="bench", max_concurrent_jobs=3, max_concurrent_by_role={})
    Membership.objects.create(office=office, user=user, role="owner")
    return office, ApiToken.issue(user, "bench", timezone.now())[1]


def latency(port: int, count: int) -> list[float]:
    """Times from the request to the start in the worker."""
    office, token = an_office()
    caller = Caller(port, token)
    path, job = f"/api/offices/{office.id}/jobs", {"task_id": "bench.noop"}
    return start_latencies(office, lambda: caller.post(path, job), count)


def graph() -> dict[str, Any]:
    dice = random.Random(1)
    wished: list[set[int]] = [set() for _ in range(JOBS)]
    left = EDGES
    while left:
        job = dice.randrange(1, JOBS)
        above = dice.randrange(job)
        if above not in wished[job]:
            wished[job].add(above)
            left -= 1
    return {
        "jobs": [
            {
                "ref": str(job),
                "task_id": "bench.noop",
                "depends_on": [str(parent) for parent in sorted(above)],
            }
            for job, above in enumerate(wished)
        ]
    }


def largest(port: int, pid: int) -> tuple[float, float, float]:
    """Seconds to submit the largest graph and to cancel all of it, and by how many MiB the process grew."""
    from jobs.models import Office

    office, token = an_office()
    Office.objects.filter(pk=office.pk).update(paused=True)
    caller, body = Caller(port, token), graph()
    before = resident_mib(pid)
    began = time.perf_counter()
    caller.post(f"/api/offices/{office.id}/jobs", body)
    submitted = time.perf_counter() - began
    grown = resident_mib(pid) - before
    began = time.perf_counter()
    answer = caller.post(f"/api/offices/{office.id}/jobs/cancel-all", {})
    cancelled = time.perf_counter() - began
    if answer["cancelled"] != JOBS:
        raise SystemExit(f"cancelled were {answer['cancelled']} of {JOBS}")
    return submitted, cancelled, grown


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, help="how often the largest graph is submitted")
    options = parser.parse_args()
    with scratch() as folder:
        run(folder, options.rounds)


def run(folder: Path, rounds: int) -> None:
    from tests.integration.web_process import running as web_running
    from tests.workers import environment, running

    calm = environment({**CALM, "DURE_LOG_LEVEL": "WARNING"})
    with (
        web_running(folder, "config.web", **calm) as web,
        running(folder, queues="default,control", concurrency=2, env=CALM),
    ):
        latency(web.port, 20)
        times = latency(web.port, 200)
        for q in (0.5, 0.99):
            print(
                f"HTTP request → start on an idle system, p{q * 100:.0f}   {quantile(times, q) * 1000:.1f} ms"
            )
        for _ in range(rounds):
            submitted, cancelled, grown = largest(web.port, web.process.pid)
            print(
                f"{JOBS} jobs, {EDGES} edges: submitted in {submitted:.2f} s (reach 5), all cancelled in "
                f"{cancelled:.2f} s (reach 2); web process +{grown:.0f} MiB (reach 300)",
                flush=True,
            )


if __name__ == "__main__":
    main()
