"""More processes, more offices, and the events of `-E`: no-op jobs a second, in interleaved rounds.

python -m tests.bench.scale [--jobs 2000] [--rounds 3]      with DATABASE_URL and REDIS_URL set
"""

import argparse
import statistics
import time
from collections import defaultdict
from pathlib import Path

from tests.bench.engine import an_office, completed_at, live, poll, submit
from tests.bench.scratch import scratch
from tests.workers import celery

# Processes of the worker, and what else it is started with.
WORKERS: dict[str, list[str]] = {
    "2 processes": ["-c", "2"],
    "2 processes, -E": ["-c", "2", "-E"],
    "4 processes": ["-c", "4"],
    "8 processes": ["-c", "8"],
}
OFFICES = (1, 8)


def throughput(offices: int, count: int) -> float:
    """Jobs a second of so many offices, each with its share of the jobs, from their resumption on."""
    from jobs import lifecycle
    from jobs.models import Office

    made = [an_office(50) for _ in range(offices)]
    names = [office.id for office in made]
    Office.objects.filter(id__in=names).update(paused=True)
    for office in made:
        submit(office, [{} for _ in range(count // offices)])
    Office.objects.filter(id__in=names).update(paused=False)
    started = time.time()
    for name in names:
        lifecycle.advance_office(name)
    poll(lambda: not any(live(office) for office in made), pause=0.1)
    return count / (max(moment for office in made for moment in completed_at(office)) - started)


def measure(folder: Path, count: int, rounds: int) -> None:
    seen: dict[tuple[str, int], list[float]] = defaultdict(list)
    for number in range(rounds):
        for name, options in WORKERS.items():
            queues = ["worker", "-Q", "default,control", "-n", f"scale{number}@test", "--without-mingle"]
            worker = celery(*queues, *options, log=folder / "worker.log", level="WARNING")
            try:
                throughput(1, 200)
                for offices in OFFICES:
                    seen[name, offices].append(throughput(offices, count))
            finally:
                worker.stop()
    base = statistics.median(seen["2 processes", 1])
    for (name, offices), values in seen.items():
        rate = statistics.median(values)
        print(
            f"{name:<16} {offices} office{'s' if offices > 1 else ' '} {rate:>7.0f} jobs/s"
            f"   {rate / base:.2f} x   {[round(value) for value in values]}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with scratch() as folder:
        measure(folder, options.jobs, options.rounds)


if __name__ == "__main__":
    main()
