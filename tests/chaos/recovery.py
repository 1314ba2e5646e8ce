"""Measures how long a run waits after its worker died, in the moments in which another could have taken it.

The promise is a new start within the lease and 10 s. It counts while PostgreSQL, Redis, beat and a control
worker are there, and a worker of the roles is connected to Redis and has a living process without a run;
other moments do not.
"""

import os
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

import redis
from django.db import DatabaseError, InterfaceError, connection

from tests.chaos.cluster import Cluster
from tests.chaos.threads import StoppableThread
from tests.unit.process_tools import is_alive
from tests.workers import Process

LEASE = float(os.environ.get("CHAOS_LEASE", "2"))
PROMISED = LEASE + 10.0
PAUSE = 0.05
# A moment in which this thread itself did not run proves nothing.
LONGEST_MOMENT = 0.5
RUNS = "SELECT worker, attempt_started_at FROM job_executions WHERE status = 'RUNNING'"


@dataclass
class Recovery:
    """When workers were lost, and the moments in which their runs could have been taken over."""

    losses: list[tuple[str, float]] = field(default_factory=list)  # worker, time
    moments: list[tuple[float, float]] = field(default_factory=list)  # from, to

    def loss_of(self, worker: str, since: float, until: float) -> float | None:
        """The last loss of this worker in the time in which it had the run."""
        times = [at for name, at in self.losses if name == worker and since <= at <= until]
        return max(times, default=None)

    def seconds(self, since: float, until: float) -> float:
        return sum(
            max(0.0, min(end, until) - max(start, since)) for start, end in self.moments if end > since
        )


class Observer(StoppableThread):
    def __init__(self, cluster: Cluster) -> None:
        super().__init__()
        self.cluster = cluster
        self.recovery = cluster.recovery

    def run(self) -> None:
        before, could_before = time.time(), False
        while not self.stop_asked.wait(PAUSE):
            started = time.time()
            could = self.could_take_over()
            now = time.time()
            # A free process at both ends of a moment, and no pause in the observation.
            if could and could_before and now - before < LONGEST_MOMENT:
                self.recovery.moments.append((before, now))
            before, could_before = now, could and now - started < LONGEST_MOMENT
        connection.close()

    def could_take_over(self) -> bool:
        cluster = self.cluster
        if not (cluster.serves("control") and cluster.beat_is_ready()):
            return False
        try:
            redis.Redis.from_url(cluster.servers.redis_url, socket_timeout=1).ping()
            with connection.cursor() as cursor:
                cursor.execute(RUNS)
                runs = cursor.fetchall()
        except (DatabaseError, InterfaceError, redis.RedisError):
            connection.close()
            return False
        return any(
            cluster.serves(name) and self.busy(name, runs) < len(pool_of(cluster.workers[name]))
            for name in list(cluster.workers)
            if name != "control"
        )

    def busy(self, name: str, runs: list[tuple[str, datetime]]) -> int:
        """The runs of this worker's present process; those of its dead predecessor hold no process."""
        since = datetime.fromtimestamp(self.cluster.started_at[name], UTC)
        return sum(worker == f"{name}@test" and started > since for worker, started in runs)


def pool_of(worker: Process) -> list[int]:
    """The living processes that run bodies."""
    return [pid for pid in worker.pool() if is_alive(pid)]
