"""What idle workers cost the database: real lease keepers, each with a connection of its own.

    python -m tests.bench.idle [--workers 180] [--seconds 40]      with DATABASE_URL and REDIS_URL set

The keepers are threads of one process, since so many worker processes need more memory than a small machine
has; for the database there is no difference. It has to run on this machine.
"""

import argparse
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil

from tests.bench.scratch import scratch


def server_processes() -> list[psutil.Process]:
    from jobs.sql import call

    ((backend,),) = call.rows("SELECT pg_backend_pid()")
    main = psutil.Process(backend).parent()
    assert main is not None
    return [main, *main.children()]


def processor_seconds(processes: list[psutil.Process]) -> dict[int, float]:
    """In nanoseconds: the ticks of /proc/<pid>/stat are longer than a heartbeat."""
    used = {}
    for process in processes:
        with suppress(OSError):
            used[process.pid] = int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[0]) / 1e9
    return used


def a_worker(number: int) -> Any:
    """What a lease keeper reads of its worker: name, slots and queues; its pool runs nothing."""
    queues = [SimpleNamespace(name=name) for name in ("FE", "BE", "default")]
    consumer = SimpleNamespace(task_consumer=SimpleNamespace(queues=queues))
    return SimpleNamespace(hostname=f"idle-{number}@bench", concurrency=4, consumer=consumer, pool=None)


def measure(workers: int, seconds: float) -> None:
    from django.conf import settings

    from jobs.models import Worker
    from jobs.worker.lease_keeper import LeaseKeeper

    for number in range(workers):
        keeper = LeaseKeeper(a_worker(number))
        # The watchdog is a process, and costs the database nothing.
        keeper.watchdog = SimpleNamespace(allow_until=lambda *_: None)  # type: ignore[assignment]
        keeper.start()
        time.sleep(settings.DURE_HEARTBEAT_SECONDS / workers)
    while Worker.objects.count() < workers:
        time.sleep(0.1)
    before, began = processor_seconds(server_processes()), time.monotonic()
    time.sleep(seconds)
    after, took = processor_seconds(server_processes()), time.monotonic() - began
    used = sum(after[pid] - before.get(pid, 0.0) for pid in after)
    print(
        f"{workers} idle workers, a heartbeat every {settings.DURE_HEARTBEAT_SECONDS:.0f} s: "
        f"{100 * used / took:.2f} % of a core, {1000 * used / took / workers:.3f} ms a second for each"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--workers", type=int, default=180)
    parser.add_argument("--seconds", type=float, default=40)
    options = parser.parse_args()
    with scratch():
        measure(options.workers, options.seconds)


if __name__ == "__main__":
    main()
