"""Users who run limited Tasks by hand and by schedules: runs that belong to no office."""

import random
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from django.contrib.auth.models import User
from django.db import DatabaseError, InterfaceError, connection

from jobs import lifecycle
from jobs.errors import Conflict
from jobs.models import Execution
from jobs.states import EXECUTION_LIVE
from scheduler import manual_runs
from scheduler.models import Schedule
from scheduler.schedules import lifecycle as schedules
from tests.chaos.bodies import EXCLUSIVE, LIMITED

# Runs that may overlap pile up while no worker is there. No slots of an office limit them, and what lost its
# worker waits behind them: so there are few.
SCHEDULES = ((EXCLUSIVE, "skip", 2), (LIMITED, "skip", 2), (EXCLUSIVE, "allow", 8))


@dataclass
class Owners:
    seed: int

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.users = [User.objects.create(username=name) for name in ("alice", "bob")]
        for task, overlap, seconds in SCHEDULES:
            values = {
                "name": f"{task} {overlap}",
                "task_id": task,
                "args": {"seconds": 0.2},
                "kind": "interval",
                "every_seconds": seconds,
                "overlap": overlap,
            }
            schedules.create(values, owner=self.users[0], now=datetime.now(UTC))

    def act(self) -> None:
        """Starts a run by hand, or cancels one that has not ended."""
        if self.random.random() < 0.2:
            live = Execution.objects.filter(job=None, status__in=EXECUTION_LIVE).order_by("id")
            for run in live.values_list("id", flat=True)[:1]:
                lifecycle.cancel_execution(run)
            return
        values = {"seconds": self.random.choice((0.0, 0.1, 0.5))}
        with suppress(Conflict):  # another one is live
            user = self.random.choice(self.users)
            manual_runs.run_task(self.random.choice((EXCLUSIVE, LIMITED)), values, owner_id=user.pk)

    def stop(self) -> None:
        """Pauses the schedules, so that the work comes to an end."""
        until = time.monotonic() + 60
        while True:
            try:
                for schedule in Schedule.objects.filter(enabled=True):
                    schedules.pause(schedule.id, now=datetime.now(UTC))
                return
            except (DatabaseError, InterfaceError):
                connection.close()
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)
