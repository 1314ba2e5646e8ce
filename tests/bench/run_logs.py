"""What it costs to keep the logs of runs: the same bodies with and without, in turns.

python -m tests.bench.run_logs [--rounds 5]
"""

import argparse
import statistics
from collections.abc import Sequence

from tests import workers
from tests.bench.scratch import scratch

NOOPS, CHATTY, LINES = 400, 4, 10_000
KEPT = {"without": "0", "with": str(2**20)}


def measure(task: str, count: int, args: dict[str, object]) -> float:
    """Seconds in the bodies and their settlements: from claim to end, the median."""
    from jobs import lifecycle, submission
    from jobs.models import Attempt, Job, Office

    office = Office.objects.create(name="bench", max_concurrent_jobs=10, max_concurrent_by_role={})
    body = {"jobs": [{"task_id": task, "args": args, "max_retries": 0} for _ in range(count)]}
    ids = lifecycle.submit(submission.read(office, body))
    workers.eventually(
        lambda: Job.objects.filter(pk__in=ids, status="done").count() == count,
        300,
        0.05,
        f"the end of {task}",
    )
    times = Attempt.objects.filter(execution__job__in=ids).values_list("started_at", "ended_at")
    return statistics.median((end - start).total_seconds() for start, end in times)


def compare(rounds: int) -> None:
    bodies: Sequence[tuple[str, str, int, dict[str, object]]] = (
        ("a body that does nothing", "bench.noop", NOOPS, {}),
        (f"{LINES:,} records", "bench.chatter", CHATTY, {"lines": LINES, "way": "log"}),
        (f"{LINES:,} printed lines", "bench.chatter", CHATTY, {"lines": LINES, "way": "print"}),
        (f"{LINES:,} lines, 100 µs of work each", "bench.chatter", CHATTY, {"lines": LINES, "way": "work"}),
    )
    seconds: dict[tuple[str, str], list[float]] = {}
    with scratch() as folder:
        for turn in range(rounds):
            for name, size in KEPT.items():
                log = folder / str(turn) / name
                log.mkdir(parents=True)
                with workers.running(log, env={"DURE_RUN_LOG_BYTES": size}):
                    for title, task, count, args in bodies:
                        seconds.setdefault((title, name), []).append(measure(task, count, args))
    for title, *_ in bodies:
        without, with_log = (statistics.median(seconds[title, name]) for name in KEPT)
        print(f"{title:<40} {without * 1000:9.2f} ms  {with_log * 1000:9.2f} ms  {with_log / without:6.3f} ×")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    compare(parser.parse_args().rounds)


if __name__ == "__main__":
    main()
