"""Random graphs with limits, priorities, failures, retries and cancels, submitted during the faults."""

import random
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connection

from jobs import lifecycle, submission
from jobs.errors import Conflict
from jobs.ids import uuid7
from jobs.models import Job, Office
from jobs.states import OnDependencyFailure
from tests.chaos.bodies import EXCLUSIVE, LIMITED, WORK
from tests.chaos.owners import Owners

# Jobs that a person may retry; the last one finds dependents whose dependency has failed as well.
RETRIABLE = (
    {"status__in": ("failed", "cancelled", "timeout")},
    {"status": "failed"},
    {"status": "failed", "failure_type": "dependency_failed"},
)
ROLES = ("FE", "BE", "QA", "default")


@dataclass
class Workload:
    seed: int
    offices: int = 3
    burst: bool = False  # empty jobs without dependencies, which contend for the office's lock

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        # The choices of people depend on what they find: the graphs must not depend on those.
        self.people = random.Random(self.seed + 1)
        # Which jobs are of a limited Task changes nothing else of a graph.
        self.tasks = random.Random(self.seed + 2)
        self.owners = Owners(self.seed + 3)
        self.made = [
            Office.objects.create(
                name=f"office {n}",
                max_concurrent_jobs=self.random.choice((2, 3, 5, 8)),
                max_concurrent_by_role={"FE": 1, "BE": 2},
                retry_base_delay_ms=200,
            )
            for n in range(self.offices)
        ]

    def submit(self, size: int) -> list[UUID]:
        """Submits a graph. After an unknown COMMIT, its batch tells whether it took place."""
        office = self.random.choice(self.made)
        batch = uuid7()
        body = {"jobs": self.graph(size), "batch": {"id": str(batch)}}
        until = time.monotonic() + 60
        while True:
            try:
                ids = list(Job.objects.filter(batch_id=batch).values_list("id", flat=True))
                return ids or lifecycle.submit(submission.read(office, body))
            except (DatabaseError, InterfaceError):
                connection.close()
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)

    def graph(self, size: int) -> list[dict[str, Any]]:
        if self.burst:
            return [{"ref": str(n), "task_id": WORK, "args": {"seconds": 0}} for n in range(size)]
        jobs: list[dict[str, Any]] = []
        # Bursts of empty jobs contend for the locks; long jobs are there to be killed.
        lengths = self.random.choice(((0.0, 0.0, 0.01), (0.1, 0.3, 0.6, 1.2), (0.3, 3.0)))
        for place in range(size):
            fan_in = self.random.choice((0, 1, 1, 2, 3)) if place else 0
            parents = self.random.sample(range(place), min(fan_in, place))
            failing = self.random.random()
            jobs.append(
                {
                    "ref": str(place),
                    "task_id": self.tasks.choices((WORK, EXCLUSIVE, LIMITED), (8, 1, 1))[0],
                    "args": {
                        "seconds": self.random.choice(lengths),
                        "failures": 99 if failing < 0.04 else 1 if failing < 0.12 else 0,
                        "program": self.random.choice(("", "", "", "", "", "", "child", "daemon")),
                    },
                    "role": self.random.choice(ROLES),
                    "priority": self.random.choice((1, 100, 100, 500)),
                    "urgent": self.random.random() < 0.05,
                    "depends_on": [str(parent) for parent in parents],
                    "on_dependency_failure": self.random.choice(OnDependencyFailure.values),
                    "max_retries": 2,
                    "retry_backoff": self.random.choice(("linear", "exponential")),
                    "timeout_ms": 20_000,
                }
            )
        return jobs

    def act(self) -> None:
        """Does what people might: run Tasks by hand, cancel a job, or retry one or several."""
        self.owners.act()
        office = self.people.choice(self.made)
        if self.people.random() < 0.3:
            live = self.jobs_of(office, {"status__in": ("pending", "ready", "processing")})
            if live:
                lifecycle.cancel(office.id, [self.people.choice(live)], actor="chaos", reason="")
            return
        ended = self.jobs_of(office, self.people.choice(RETRIABLE))
        selected = self.people.sample(ended, min(len(ended), self.people.choice((1, 1, 10))))
        # A job whose dependency has failed may be refused.
        with suppress(Conflict):
            lifecycle.retry(office.id, selected, actor="chaos", reason="")

    def jobs_of(self, office: Office, condition: dict[str, Any]) -> list[UUID]:
        return list(Job.objects.filter(office=office, **condition).values_list("id", flat=True)[:200])
