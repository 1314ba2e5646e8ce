"""What the deletion of old rows costs the jobs that run meanwhile, with millions of ended ones.

    python -m tests.bench.retention [--ended 2000000] [--rate 1000]      with DATABASE_URL and REDIS_URL set

An ended job has six rows: itself, its Execution, an attempt and three events.
"""

import argparse
import statistics
import threading
import time
from datetime import datetime
from pathlib import Path

from tests.bench.engine import fill_with_ended, throughput
from tests.bench.scratch import scratch
from tests.workers import worker

BATCH = 2_000
EVENTS_OF_JOB = 3


class Deletion(threading.Thread):
    """Deletes jobs with all that belongs to them, at most so many a second."""

    def __init__(self, rate: float, before: datetime) -> None:
        super().__init__(daemon=True)
        self.rate = rate
        self.before = before
        self.ended = threading.Event()
        self.deleted = 0
        self.seconds = self.busy = 0.0

    def run(self) -> None:
        from jobs import retention

        began = time.monotonic()
        while not self.ended.wait(max(0.0, began + self.deleted / self.rate - time.monotonic())):
            start = time.monotonic()
            for kind, delete in retention.steps(self.before, self.before, BATCH):
                count = sum(delete() for _ in range(EVENTS_OF_JOB if kind == "events" else 1))
                self.deleted += count if kind == "jobs" else 0
            self.busy += time.monotonic() - start
        self.seconds = time.monotonic() - began

    def stop(self) -> None:
        self.ended.set()
        self.join()


def wal_bytes() -> int:
    from jobs.sql import call

    return int(call.rows("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')")[0][0])


def database_bytes() -> int:
    from jobs.sql import call

    return int(call.rows("SELECT pg_database_size(current_database())")[0][0])


def measure(folder: Path, ended: int, rate: float, jobs: int, rounds: int) -> None:
    from scheduler.clock import database_now

    process = worker(folder, queues="default,control", concurrency=2, name="jobs", level="WARNING")
    try:
        throughput(50, 200)
        wal = wal_bytes()
        empty = [throughput(50, jobs) for _ in range(rounds)]
        print(f"a job writes {(wal_bytes() - wal) / jobs / rounds / 1024:.1f} KiB of WAL")
        began, size = time.monotonic(), database_bytes()
        fill_with_ended(ended)
        print(
            f"{ended} ended jobs, {6 * ended} rows, were written in {time.monotonic() - began:.0f} s; "
            f"each takes {(database_bytes() - size) / ended / 1024:.1f} KiB"
        )
        before = database_now()
        alone, meanwhile = list[float](), list[float]()
        deleted = seconds = busy = 0.0
        for _ in range(rounds):
            alone.append(throughput(50, jobs))
            deletion = Deletion(rate, before)
            deletion.start()
            meanwhile.append(throughput(50, jobs))
            deletion.stop()
            deleted, seconds = deleted + deletion.deleted, seconds + deletion.seconds
            busy += deletion.busy
    finally:
        process.stop()
    base = statistics.median(alone)
    for name, values in (
        ("no ended jobs", empty),
        ("with them", alone),
        ("while they are deleted", meanwhile),
    ):
        value = statistics.median(values)
        print(f"{name:<24} {value:>7.0f} jobs/s   {value / base:.2f} x   {[round(each) for each in values]}")
    print(
        f"deleted meanwhile: {deleted / seconds:.0f} jobs a second,"
        f" in {100 * busy / seconds:.0f} % of the time"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ended", type=int, default=2_000_000)
    parser.add_argument("--rate", type=float, default=1_000, help="jobs deleted a second, at most")
    parser.add_argument("--jobs", type=int, default=4_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with scratch() as folder:
        measure(folder, options.ended, options.rate, options.jobs, options.rounds)


if __name__ == "__main__":
    main()
