"""More processes, more offices, and the events of `-E`: no-op jobs a second, in interleaved rounds.

python -m tests.bench.scale [--jobs 2000] [--rounds 3]      with DATABASE_URL and REDIS_URL set

Beside each number of processes: raw Celery's throughput with as many, and how many of the database's busy
connections waited for a lock, on average.
"""

import argparse
import statistics
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from tests.bench.engine import Raw, a_raw_worker, throughput
from tests.bench.scratch import scratch
from tests.workers import celery

# Processes of the worker, and what else it is started with.
WORKERS: dict[str, list[str]] = {
    "2 processes": ["-c", "2"],
    "2 processes, -E": ["-c", "2", "-E"],
    "4 processes": ["-c", "4"],
    "8 processes": ["-c", "8"],
}
# Offices and the slots of each. Eight with as many as one has in all have as many messages, too.
OFFICES = {"1 office": (1, 50), "8 offices": (8, 50), "8 of 6 slots": (8, 6)}
SAMPLE_SECONDS = 0.02
BUSY_CONNECTIONS = """
    SELECT count(*) FILTER (WHERE wait_event_type = 'Lock'), count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()
"""


@contextmanager
def lock_waits() -> Iterator[list[tuple[int, int]]]:
    """How many connections wait for a lock, and how many are busy, again and again."""
    samples: list[tuple[int, int]] = []
    ended = Event()

    def sample() -> None:
        from django.db import connection

        from jobs.sql import call

        while not ended.wait(SAMPLE_SECONDS):
            ((waiting, busy),) = call.rows(BUSY_CONNECTIONS)
            samples.append((waiting, busy))
        connection.close()

    thread = Thread(target=sample)
    thread.start()
    try:
        yield samples
    finally:
        ended.set()
        thread.join()


def measure(folder: Path, count: int, rounds: int) -> None:
    seen: dict[tuple[str, str], list[float]] = defaultdict(list)
    waits: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number in range(rounds):
        for name, options in WORKERS.items():
            queues = ["worker", "-Q", "default,control", "-n", f"scale{number}@test", "--without-mingle"]
            worker = celery(*queues, *options, log=folder / "worker.log", level="WARNING")
            try:
                throughput(50, 200)
                for kind, (offices, slots) in OFFICES.items():
                    with lock_waits() as samples:
                        rate = throughput(slots, count, offices)
                    seen[name, kind].append(rate)
                    if offices == 1:
                        waits[name] += samples
            finally:
                worker.stop()
            seen[name, "raw Celery"].append(raw_throughput(folder, options, count))
    for kind in (*OFFICES, "raw Celery"):
        base = statistics.median(seen["2 processes", kind])
        for name in WORKERS:
            rate = statistics.median(seen[name, kind])
            rounded = [round(value) for value in seen[name, kind]]
            print(f"{name:<16} {kind:<12} {rate:>7.0f}/s   {rate / base:.2f} x   {rounded}")
    for name, samples in waits.items():
        waiting, busy = (statistics.mean(column) for column in zip(*samples, strict=True))
        print(f"{name:<16} 1 office     {waiting:.2f} of {busy:.2f} busy connections wait for a lock")


def raw_throughput(folder: Path, options: list[str], count: int) -> float:
    worker = a_raw_worker(folder, *options)
    try:
        raw = Raw()
        raw.wait_for_worker()
        raw.throughput(200)
        return raw.throughput(count)
    finally:
        worker.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with scratch() as folder:
        measure(folder, options.jobs, options.rounds)


if __name__ == "__main__":
    main()
