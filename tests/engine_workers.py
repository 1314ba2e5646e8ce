"""Workers for tests of the engine, and helpers that read what the workers did."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any

from django.conf import settings

from jobs import lifecycle, redis
from jobs.models import Attempt, Execution, Job
from jobs.sql import call
from jobs.states import EXECUTION_LIVE, JOB_ENDED, JOB_LIVE, ExecutionStatus
from jobs.subprocesses import process_tree
from tests import engine_tasks as engine_tasks  # the Tasks they run
from tests import workers
from tests.factories import fresh
from tests.unit.process_tools import PATIENCE
from tests.workers import Process, eventually

LEASE = float(workers.QUICK["DURE_LEASE_SECONDS"])
GRACE = float(workers.QUICK["DURE_GRACE_SECONDS"])
ENVIRONMENT = {"DURE_WORKER_MODULES": "tests.engine_tasks"}
SLOTS = 3
QUIET_LOOKS = 5
QUIET_SECONDS = 0.03


@dataclass
class Workers:
    process: Process

    def pool(self) -> list[int]:
        return self.process.pool()


@contextmanager
def start(
    folder: Path, name: str = "engine", *, control: bool = True, roles: str = workers.ROLES
) -> Iterator[Workers]:
    # Messages of earlier tests name deleted rows, and would only be dropped one by one.
    redis.client().flushdb()
    started = [workers.worker(folder, queues=roles, concurrency=SLOTS, name=name, env=ENVIRONMENT)]
    if control:
        started.append(
            workers.worker(folder, queues="control", concurrency=1, name=f"{name}-control", env=ENVIRONMENT)
        )
    try:
        for process in started:
            process.wait_for_line(" ready.")
        yield Workers(started[0])
    finally:
        # The workers are idle, and a graceful stop takes longer.
        for process in started:
            process_tree.kill_tree(process.pid)
            process.kill()


@contextmanager
def ending_what_runs() -> Iterator[None]:
    """Stops everything that a test left running, before its tables are emptied."""
    try:
        yield
    finally:
        for office in set(Job.objects.filter(status__in=JOB_LIVE).values_list("office_id", flat=True)):
            ids = Job.objects.filter(office_id=office, status__in=JOB_LIVE).values_list("id", flat=True)
            lifecycle.cancel(office, list(ids), actor="the end of the test")
        for execution in Execution.objects.filter(status__in=EXECUTION_LIVE, job=None):
            lifecycle.cancel_execution(execution.id)

        def nothing_runs() -> bool:
            lifecycle.rescue()
            return not Execution.objects.filter(status=ExecutionStatus.RUNNING).exists()

        eventually(nothing_runs, 30, what="the end of what still ran")
        # Otherwise emptying the tables and the workers' transactions could deadlock.
        idle = (nobody_works() for _ in count())
        eventually(lambda: all(islice(idle, QUIET_LOOKS)), 30, what="idle workers")


def nobody_works() -> bool:
    # A task that was just taken has left its queue and not yet reached the database.
    time.sleep(QUIET_SECONDS)
    waiting = sum(redis.client().llen(name) for name in redis.client().scan_iter() if is_queue(name))
    ((busy,),) = call.rows(
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND backend_type = 'client backend' "
        "AND pid <> pg_backend_pid() AND state <> 'idle'"
    )
    return not waiting and not busy


def is_queue(name: str) -> bool:
    return name.partition("\x06")[0] in (*workers.ROLES.split(","), settings.DURE_CONTROL_QUEUE)


def ended(job: Job, patience: float = PATIENCE) -> Job:
    """Waits until the job has ended, and returns it."""
    eventually(lambda: fresh(job).status in JOB_ENDED, patience, what=f"the end of {job.task_id}")
    return fresh(job)


def in_state(job: Job, *statuses: str, patience: float = PATIENCE) -> Job:
    eventually(lambda: fresh(job).status in statuses, patience, what=f"{job.task_id} to be {statuses}")
    return fresh(job)


def started(job: Job, patience: float = PATIENCE) -> Job:
    """Waits until a worker runs the job, and returns it."""

    def runs() -> bool:
        execution = fresh(job).execution
        return execution is not None and execution.status == ExecutionStatus.RUNNING

    eventually(runs, patience, what=f"the start of {job.task_id}")
    return fresh(job)


def outcomes(job: Job) -> list[tuple[str, str]]:
    attempts = Attempt.objects.filter(execution__job=job).order_by("execution_id", "number")
    return [(attempt.outcome, attempt.failure_type) for attempt in attempts]


def result(job: Job) -> Any:
    execution = fresh(job).execution
    assert execution is not None
    return execution.result


def lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text().splitlines() if file.exists() else []
