"""Faults: each is a function of the cluster, selected at random."""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from tests.chaos import witness
from tests.chaos.cluster import Cluster
from tests.chaos.recovery import LEASE
from tests.workers import Process, command_of


def kill_a_busy_process(cluster: Cluster, chance: random.Random) -> None:
    """Kills a pool process in the middle of a body, according to the witness file."""
    if busy := busy_pids(cluster):
        kill(cluster, chance.choice(busy))


def kill_a_pool_process(cluster: Cluster, chance: random.Random) -> None:
    """Kills a pool process at any point, also between two commits."""
    if children := all_children(cluster):
        kill(cluster, chance.choice(children))


def kill_a_worker(cluster: Cluster, chance: random.Random) -> None:
    name = chance.choice(sorted(cluster.workers))
    cluster.lose(cluster.workers[name].pid)
    cluster.workers[name].kill()
    cluster.start_worker(name)


def freeze_a_worker_past_its_lease(cluster: Cluster, chance: random.Random) -> None:
    """Freezes the whole worker, pool included. When it wakes, other workers own its runs."""
    names = [name for name in sorted(cluster.workers) if name != "control"]
    busy = set(busy_pids(cluster))
    name = chance.choice([n for n in names if busy.intersection(children_of(cluster.workers[n]))] or names)
    worker = cluster.workers[name]
    pids = [worker.pid, *children_of(worker)]
    with frozen(cluster, name):
        for pid in pids:
            send(pid, signal.SIGSTOP)
        time.sleep(LEASE * chance.uniform(1.0, 2.0))
        for pid in reversed(pids):
            send(pid, signal.SIGCONT)


def freeze_a_parent_past_its_lease(cluster: Cluster, chance: random.Random) -> None:
    """Freezes the main process only: its pool continues without a lease, and reports too late."""
    name = chance.choice([name for name in sorted(cluster.workers) if name != "control"])
    with frozen(cluster, name):
        send(cluster.workers[name].pid, signal.SIGSTOP)
        time.sleep(LEASE * chance.uniform(1.2, 1.8))
        send(cluster.workers[name].pid, signal.SIGCONT)


def freeze_a_pool_process(cluster: Cluster, chance: random.Random) -> None:
    """Freezes the pool process only: its parent renews the lease, so the run must stay with it."""
    if children := all_children(cluster):
        pid = chance.choice(children)
        send(pid, signal.SIGSTOP)
        time.sleep(LEASE * 0.7)
        send(pid, signal.SIGCONT)


def kill_beat(cluster: Cluster, chance: random.Random) -> None:
    cluster.beat.kill()
    cluster.start_beat()


def restart_postgres(cluster: Cluster, chance: random.Random) -> None:
    cluster.servers.crash_postgres()
    time.sleep(chance.uniform(0, 1.5))
    cluster.servers.start_postgres()


def restart_redis(cluster: Cluster, chance: random.Random) -> None:
    cluster.servers.kill_redis()
    time.sleep(chance.uniform(0, 1.0))
    cluster.servers.start_redis()


def wipe_redis(cluster: Cluster, chance: random.Random) -> None:
    cluster.servers.kill_redis()
    cluster.servers.forget_redis()
    cluster.servers.start_redis()


def repeat_messages(cluster: Cluster, chance: random.Random) -> None:
    """Sends every message of live and ended runs once more."""
    from django.db import connection

    from jobs import publish
    from jobs.models import Execution

    connection.close()  # the server may have been restarted since

    publish.send_messages(
        [
            publish.Send(str(run.id), run.dispatch, run.role, run.task_id, 0, run.retry_count)
            for run in Execution.objects.order_by("-id")[:200]
        ]
    )


FAULTS: tuple[tuple[Callable[[Cluster, random.Random], None], int], ...] = (
    (kill_a_busy_process, 6),
    (kill_a_pool_process, 3),
    (kill_a_worker, 3),
    (freeze_a_worker_past_its_lease, 4),
    (freeze_a_parent_past_its_lease, 3),
    (freeze_a_pool_process, 2),
    (kill_beat, 1),
    (restart_postgres, 2),
    (restart_redis, 2),
    (wipe_redis, 2),
    (repeat_messages, 3),
)


def inject(cluster: Cluster, chance: random.Random, only: list[str]) -> str:
    allowed = [(fault, weight) for fault, weight in FAULTS if not only or fault.__name__ in only]
    fault = chance.choices([fault for fault, _ in allowed], [weight for _, weight in allowed])[0]
    # What a fault finds depends on time. A generator of its own keeps that away from the faults after it.
    with (cluster.folder / "faults.log").open("a") as log:
        print(datetime.now(UTC).isoformat(), fault.__name__, file=log)
    fault(cluster, random.Random(chance.random()))
    return fault.__name__


def busy_pids(cluster: Cluster) -> list[int]:
    """Pool processes whose last line in the witness file is a start."""
    last = {line.pid: line.what for line in witness.read(cluster.folder / "witness")}
    living = all_children(cluster)
    return sorted(pid for pid, what in last.items() if what == "start" and pid in living)


def all_children(cluster: Cluster) -> list[int]:
    return [child for worker in cluster.workers.values() for child in children_of(worker)]


def children_of(worker: Process) -> list[int]:
    """The pool processes, and the watchdog, which may die or freeze as well."""
    return [pid for pid in worker.children() if b"python" in command_of(pid)]


@contextmanager
def frozen(cluster: Cluster, name: str) -> Iterator[None]:
    cluster.lose(cluster.workers[name].pid)
    cluster.frozen.add(name)
    yield
    cluster.frozen.discard(name)


def kill(cluster: Cluster, pid: int) -> None:
    cluster.lose(pid)
    send(pid, signal.SIGKILL)


def send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
