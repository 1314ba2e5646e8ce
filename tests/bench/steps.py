"""Step queues beside the engine's own chains: the same worker, the same run.

    python -m tests.bench.steps [--length 100] [--queues 200]      with DATABASE_URL and REDIS_URL set

A hop is the time from one operation's start to the next one's.
"""

import argparse
import statistics
from itertools import pairwise
from typing import Any

from tests.bench.engine import PROCESSES, chain_hop
from tests.bench.measurement import CALM, poll, quantile
from tests.bench.scratch import scratch


def owner() -> Any:
    from django.contrib.auth.models import User

    return User.objects.get_or_create(username="bench")[0]


def a_queue(length: int, operation: str = "nothing", **arguments: Any) -> Any:
    from django.utils import timezone

    from scheduler.steps import queues

    queue = queues.create({"queue_library": "testing"}, owner=owner(), office=None, now=timezone.now())
    job = {"forward_operation": operation, "arguments": arguments or "EMPTY_ARGS"}
    for _ in range(length):
        queues.enqueue(queue.queue_id, job)
    return queue.queue_id


def is_running(*queues: int) -> bool:
    from scheduler.steps.models import StepQueue

    return StepQueue.objects.filter(pk__in=queues, state="RUNNING").exists()


def starts(queue: int) -> list[float]:
    from jobs.models import Execution

    times = Execution.objects.filter(trigger="STEP", source__startswith=f"{queue}:").values_list(
        "started_at", flat=True
    )
    return sorted(moment.timestamp() for moment in times if moment)


def ends(queues: list[int]) -> list[float]:
    from scheduler.steps.models import StepQueue

    times = StepQueue.objects.filter(pk__in=queues, operation_direction="FORWARD").values_list(
        "ended_at", flat=True
    )
    return [moment.timestamp() for moment in times if moment]


def step_hop(length: int) -> float:
    from scheduler.steps import lifecycle

    queue = a_queue(length)
    lifecycle.run(queue)
    poll(lambda: not is_running(queue), pause=0.01)
    times = starts(queue)
    assert len(times) == length
    return statistics.mean(b - a for a, b in pairwise(times))


def many(count: int, length: int) -> None:
    """Runs all queues at once, with one that sleeps: no queue waits for another."""
    from scheduler.steps import lifecycle

    sleeper = a_queue(1, "sleep", seconds=25.0)
    queues = [a_queue(length) for _ in range(count)]
    lifecycle.run(sleeper)
    for queue in queues:
        lifecycle.run(queue)
    poll(lambda: not is_running(*queues))
    ended = ends(queues)
    slept_on = is_running(sleeper)
    first = sorted(starts(queue)[0] for queue in queues)
    print(
        f"{count} queues of {length}: {len(ended)} completed in {max(ended) - first[0]:.2f} s; the last one "
        f"started {first[-1] - first[0]:.2f} s and the first ended {min(ended) - first[0]:.2f} s after the "
        f"first start; beside them one {'still sleeps' if slept_on else 'has ended: make it sleep longer'}"
    )
    lifecycle.cancel(sleeper)
    poll(lambda: not is_running(sleeper))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--queues", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with scratch("tests.bench.bodies,tests.step_operations") as folder:
        from tests.workers import running

        with running(folder, queues="default", concurrency=PROCESSES, env=CALM):
            step_hop(options.length)
            ours, engine = [], []
            for _ in range(options.rounds):
                engine.append(chain_hop(options.length) * 1000)
                ours.append(step_hop(options.length) * 1000)
            for name, take in (("best", min), ("median", lambda times: quantile(times, 0.5))):
                mine, theirs = take(ours), take(engine)
                print(
                    f"queue of {options.length} no-ops, mean hop, {name} of {options.rounds}: {mine:.2f} ms, "
                    f"chain of jobs {theirs:.2f} ms, {mine / theirs:.2f} × (reach ≤ 1.5)"
                )
            many(options.queues, 5)


if __name__ == "__main__":
    main()
