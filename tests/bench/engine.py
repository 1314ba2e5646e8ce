"""The engine beside raw Celery: the same work, the same Redis, the same number of processes, one run.

    make bench            or, with servers of your own:  python -m tests.bench.engine [--jobs 2000]

Prints each figure, the one of raw Celery next to it, and the ratio that docs/performance.md shows.
"""

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench.measurement import CALM, poll, quantile
from tests.bench.scratch import NUMBERS, redis_url, scratch

if TYPE_CHECKING:
    from tests.workers import Process

# Few worker processes, so that the software is measured and not the machine.
PROCESSES = 2


def report(work: str, ours: float, raw: float, unit: str, reach: str) -> None:
    print(
        f"{work:<58} {ours:>10.4g} {unit:<7} raw {raw:>9.4g}   {ours / raw:>6.2f} ×   reach {reach}",
        flush=True,
    )


# --- raw Celery ------------------------------------------------------------------------------------


class Raw:
    """Raw Celery over the same Redis."""

    def __init__(self) -> None:
        from redis import Redis

        from tests.bench import raw_celery

        self.app = raw_celery.app
        self.noop = raw_celery.noop
        self.clock = raw_celery.clock
        self.results = Redis.from_url(redis_url(NUMBERS["raw_results"]))

    def wait_for_worker(self) -> None:
        poll(lambda: bool(self.app.control.ping(timeout=1)))

    def throughput(self, count: int) -> float:
        """Publishes while the worker does not consume, then lets it consume."""
        self.results.flushdb()
        self.app.control.cancel_consumer("raw", reply=True)
        with self.app.producer_or_acquire() as producer:
            for _ in range(count):
                self.noop.apply_async(producer=producer)
        started = time.perf_counter()
        self.app.control.add_consumer("raw")
        ended = poll(lambda: self.results.dbsize() >= count, pause=0.01)
        return count / (ended - started)

    def chain_hop(self, length: int) -> float:
        from celery import chain

        self.results.flushdb()
        flow = chain(*[self.clock.si() for _ in range(length)])
        last = flow.apply_async()
        last.get(timeout=120)
        starts: list[float] = []
        node = last
        while node is not None:
            starts.append(node.get(timeout=10))
            node = node.parent
        starts.sort()
        return statistics.mean(b - a for a, b in pairwise(starts))

    def layers(self, depth: int, width: int) -> float:
        """Runs a graph level by level, each a chord: Celery has no other way."""
        from celery import chain, chord, group

        self.results.flushdb()
        flow: Any = None
        for _ in range(depth):
            level = chord(group(self.noop.si() for _ in range(width)), self.clock.si())
            flow = level if flow is None else chain(flow, level)
        started = time.time()
        return float(flow.apply_async().get(timeout=120)) - started

    def latency(self, count: int) -> list[float]:
        times = []
        for _ in range(count):
            before = time.time()
            times.append(float(self.clock.apply_async().get(timeout=20)) - before)
            time.sleep(0.01)
        return times


def a_raw_worker(folder: Path, *options: str) -> "Process":
    from tests.workers import celery

    return celery(
        *("worker", "-Q", "raw", "-n", "raw@test", "--without-mingle", *options),
        log=folder / "raw.log",
        app="tests.bench.raw_celery",
        level="WARNING",
    )


# --- ours ------------------------------------------------------------------------------------------


def an_office(limit: int) -> Any:
    from jobs.models import Office

    return Office.objects.create(name=f"limit {limit}", max_concurrent_jobs=limit, max_concurrent_by_role={})


def submit(office: Any, jobs: list[dict[str, Any]]) -> list[Any]:
    from jobs import lifecycle, submission

    body = {"jobs": [{"task_id": "bench.noop", **job} for job in jobs]}
    return lifecycle.submit(submission.read(office, body))


def live(office: Any) -> bool:
    from jobs.models import Job
    from jobs.states import JOB_LIVE

    return Job.objects.filter(office=office, status__in=JOB_LIVE).exists()


def throughput(limit: int, count: int, offices: int = 1) -> float:
    """Jobs a second of so many offices, each with its share of the jobs, from their resumption on."""
    from jobs import lifecycle
    from jobs.models import Office

    made = [an_office(limit) for _ in range(offices)]
    rows = Office.objects.filter(id__in=[office.id for office in made])
    rows.update(paused=True)
    for office in made:
        submit(office, [{} for _ in range(count // offices)])
    rows.update(paused=False)
    started = time.time()
    for office in made:
        lifecycle.advance_office(office.id)
    # Polls seldom, because polling loads the database; the end is recorded in the rows.
    poll(lambda: not any(live(office) for office in made), pause=0.1)
    return count / (max(max(completed_at(office)) for office in made) - started)


def chain_hop(length: int) -> float:
    office = an_office(3)
    submit(office, [{"ref": str(n), "depends_on": [str(n - 1)] if n else []} for n in range(length)])
    poll(lambda: not live(office), pause=0.01)
    starts = started_at(office)
    return statistics.mean(b - a for a, b in pairwise(starts))


def layers(depth: int, width: int, fan_in: int) -> float:
    office = an_office(50)
    jobs = []
    for level in range(depth):
        for place in range(width):
            above = [f"{level - 1}.{(place + step) % width}" for step in range(fan_in)] if level else []
            jobs.append({"ref": f"{level}.{place}", "depends_on": above})
    started = time.time()
    submit(office, jobs)
    poll(lambda: not live(office), pause=0.005)
    return max(completed_at(office)) - started


def latency(count: int) -> list[float]:
    from jobs import lifecycle, submission

    office = an_office(3)
    job = {"task_id": "bench.noop"}
    return start_latencies(office, lambda: lifecycle.submit(submission.read(office, job)), count)


def start_latencies(office: Any, submit_one: Callable[[], object], count: int) -> list[float]:
    """Times from the call to the start in the worker, by the database's clock on the same machine."""
    before = []
    for _ in range(count):
        before.append(time.time())
        submit_one()
        poll(lambda: not live(office), pause=0.003)
        time.sleep(0.01)
    return [start - called for called, start in zip(before, started_at(office), strict=True)]


def started_at(office: Any) -> list[float]:
    from jobs.models import Job

    times = Job.objects.filter(office=office).order_by("seq").values_list("started_at", flat=True)
    return [moment.timestamp() for moment in times if moment]


def completed_at(office: Any) -> list[float]:
    from jobs.models import Job

    times = Job.objects.filter(office=office).values_list("completed_at", flat=True)
    return [moment.timestamp() for moment in times if moment]


def fill_with_ended(count: int) -> None:
    """Ended jobs with their Executions, attempts and events, as a year leaves them behind."""
    from django.db import connection

    office = an_office(3)
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(
            """
            CREATE TEMP TABLE old AS
            SELECT n, dure_uuid7(now() - n * interval '1 second') AS job,
                   dure_uuid7(now() - n * interval '1 second') AS execution,
                   now() - n * interval '1 second' AS at
            FROM generate_series(1, %s) AS n;
            """,
            [count],
        )
        cursor.execute(
            """
            INSERT INTO job_queue (id, office_id, ref, task_id, args, role, priority, urgent, status,
                on_dependency_failure, dependency_count, timeout_ms, max_retries, retry_backoff,
                retry_base_delay_ms, retry_count, on_lost, trigger, unique_key, created_at, started_at,
                completed_at, failure_type, error_message, ended_before, execution_id)
            SELECT job, %s, '', 'bench.noop', '{}', 'default', 100, false, 'done', 'block', 0, 1800000, 2,
                'exponential', 60000, 0, 'retry', 'JOB', '', at, at, at, '', '', false, execution
            FROM old;
            """,
            [office.id],
        )
        cursor.execute(
            """
            INSERT INTO job_executions (id, task_id, role, trigger, job_id, source, args, status, dispatch,
                dispatched_at, sent_count, fence, token, worker, attempt, retry_count, crash_count,
                max_retries, retry_backoff, retry_base_delay_ms, timeout_ms, on_lost, created_at,
                started_at, finished_at, failure_type, error, session_id)
            SELECT execution, 'bench.noop', 'default', 'JOB', job, '', '{}', 'SUCCESS', 1, at, 1, 1, '', 'w',
                1, 0, 0, 2, 'exponential', 60000, 1800000, 'retry', at, at, at, '', '', ''
            FROM old;
            """
        )
        cursor.execute(
            """
            INSERT INTO job_attempts (execution_id, number, started_at, timeout_at, ended_at, outcome,
                failure_type, error, worker, token)
            SELECT execution, 1, at, at, at, 'success', '', '', 'w', '' FROM old;
            INSERT INTO job_events (office_id, job_id, type, details, at)
            SELECT %s, job, type, '{}', at
            FROM old, unnest(ARRAY['job_ready', 'job_started', 'job_completed']) AS type;
            DROP TABLE old;
            """,
            [office.id],
        )
        cursor.execute("RESET statement_timeout")
        cursor.execute("ANALYZE job_queue; ANALYZE job_executions; ANALYZE job_attempts; ANALYZE job_events")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many counts, for both sides")
    parser.add_argument("--ended", type=int, default=1_000_000, help="ended jobs for the last comparison")
    parser.add_argument("--only", default="", help="throughput, chain, layers, latency, ended")
    options = parser.parse_args()
    with scratch() as folder:
        run(options, folder)


def run(options: argparse.Namespace, folder: Path) -> None:
    from celery import current_app

    from tests.workers import worker

    machine = platform.processor() or platform.machine()
    print(f"{machine}, {os.cpu_count()} cores, Python {platform.python_version()}")
    parts = set(options.only.split(",")) - {""} or {"throughput", "chain", "layers", "latency", "ended"}
    # Both at the level that logs nothing for each task.
    raw_worker = a_raw_worker(folder, "-c", str(PROCESSES))
    ours = [
        worker(folder, queues=queues, concurrency=count, name=queues, env=CALM, level="WARNING")
        for queues, count in (("default", PROCESSES), ("control", 1))
    ]
    try:
        raw = Raw()
        raw.wait_for_worker()
        poll(lambda: len(current_app.control.ping(timeout=1)) == len(ours))
        raw.throughput(200)
        throughput(50, 200)
        measure(raw, options, parts)
    finally:
        for process in (*ours, raw_worker):
            process.stop()


def measure(raw: Raw, options: argparse.Namespace, parts: set[str]) -> None:
    rounds = range(options.rounds)
    if "throughput" in parts:
        base = max(raw.throughput(options.jobs) for _ in rounds)
        for limit, reach in ((50, "≥ 0.50"), (3, "≥ 0.45"), (8, "≥ 0.45")):
            ours = max(throughput(limit, options.jobs) for _ in rounds)
            report(f"{options.jobs} independent no-ops, limit {limit}", ours, base, "jobs/s", reach)
    if "chain" in parts:
        ours, base = min(chain_hop(100) for _ in rounds), min(raw.chain_hop(100) for _ in rounds)
        report("chain of 100: mean hop", ours * 1000, base * 1000, "ms", "≤ 2.5")
    if "layers" in parts:
        ours, base = min(layers(20, 20, 3) for _ in rounds), min(raw.layers(20, 20) for _ in rounds)
        report("20 layers of 20, 3 dependencies each: makespan", ours * 1000, base * 1000, "ms", "≤ 3")
    if "latency" in parts:
        mine, theirs = latency(200), raw.latency(200)
        for q in (0.5, 0.99):
            work = f"submit → start on an idle system, p{int(q * 100)}"
            report(work, quantile(mine, q) * 1000, quantile(theirs, q) * 1000, "ms", "≤ 3")
    if "ended" in parts:
        before = max(throughput(50, options.jobs) for _ in rounds)
        fill_with_ended(options.ended)
        after = max(throughput(50, options.jobs) for _ in rounds)
        report(
            f"cost of a job with {options.ended} ended ones, and none",
            1000 / after,
            1000 / before,
            "ms",
            "≤ 1.2",
        )


if __name__ == "__main__":
    main()
