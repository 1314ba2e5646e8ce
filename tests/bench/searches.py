"""The list of runs among two million: each search, order and page, and what else reads many runs.

    make bench ARGS="searches"     or:  python -m tests.bench.searches [--runs 2000000] [--only error]

Target: 300 ms, or the page says since when it has searched. `first` is on a new connection to the database.
The fill takes three minutes and 4 GB of disk, which are free again afterwards.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from tests.bench import history
from tests.bench.scratch import scratch

CALLS = 7
TARGET_MS = 300
RUNS = "/runs"
# What a page says when it has not searched all runs.
NARROWED = "were searched"


@dataclass(frozen=True)
class Search:
    name: str
    user: Any
    path: str


@dataclass(frozen=True)
class Timing:
    total: float
    database: float
    narrowed: bool


def runs(**values: str) -> str:
    return f"{RUNS}?{urlencode(values)}"


def searches(users: history.Users) -> Iterator[Search]:
    from jobs.models import Batch, Job, Office
    from scheduler.models import Schedule

    some = Job.objects.order_by("id")[100:101].get()
    large = Office.objects.get(name="office 0000")
    batch = Batch.objects.order_by("-id")[500:501].get()
    schedule = Schedule.objects.filter(owner=users.owner).order_by("name")[0]
    deep = str(Job.objects.order_by("id").values_list("id", flat=True)[1_000])
    fields = {
        "nothing": {},
        "id": {"q": str(some.id)},
        "part of an id": {"q": str(some.id)[-8:]},
        "name": {"q": "load part 19"},
        "name of one old job": {"q": history.NEEDLE},
        "frequent error text": {"q": "the disk is full"},
        "error text without a run": {"q": "no such text anywhere"},
        "arguments": {"q": "part-77777.parquet"},
        "name of an office": {"q": "office 0500"},
        "name of a batch": {"q": str(batch)},
        "state failed": {"state": "failed"},
        "state failed, error text": {"state": "failed", "q": "unknown currency"},
        "state running": {"state": "running"},
        "state succeeded": {"state": "succeeded"},
        "failure reason": {"failure": "git_conflict"},
        "Task": {"task": "etl.load"},
        "rare Task": {"task": history.RARE_TASK},
        "Task that never ran": {"task": "etl.nothing"},
        "role": {"role": "QA"},
        "trigger": {"trigger": "MANUAL"},
        "trigger STEP": {"trigger": "STEP"},
        "worker": {"worker": "worker-3@host"},
        "rare worker": {"worker": history.RARE_WORKER},
        "large office": {"office": str(large.id)},
        "large office, error text": {"office": str(large.id), "q": "the disk is full"},
        "batch": {"batch": str(batch.id)},
        "schedule": {"schedule": str(schedule.id)},
        "last hour": {"range": "1h"},
        "last 7 days, text": {"range": "7d", "q": "no such text anywhere"},
        "a day of last week": {"range": "custom", "since": _days(8), "until": _days(7), "q": "checksum"},
        "ended within 24 hours": {"ended": "24h"},
        "oldest first": {"sort": "oldest"},
        "oldest first, text": {"sort": "oldest", "q": "duplicate key"},
        "longest first": {"sort": "longest"},
        "deep in the list": {"after": deep},
        "deep in the list, text": {"after": deep, "q": "the disk is full"},
    }  # fmt: skip
    for name, values in fields.items():
        yield Search(name, users.staff, runs(**values))
    for count in ({}, {"q": "the disk is full"}, {"state": "failed"}, {"office": str(large.id)}):
        yield Search(f"count {' '.join(count)}", users.staff, f"{RUNS}/count?{urlencode(count)}")
    yield Search("CSV, first lines", users.staff, f"{RUNS}.csv")
    yield Search("CSV of a text, first lines", users.staff, f"{RUNS}.csv?q=the+disk+is+full")
    for name in ("member", "large", "many", "owner"):
        for values in ({}, {"q": "the disk is full"}, {"q": "no such text anywhere"}, {"state": "failed"},
                       {"task": history.RARE_TASK}, {"sort": "longest"}, {"sort": "oldest"}):  # fmt: skip
            words = ", ".join(values.values()) or "nothing"
            yield Search(f"{name}: {words}", getattr(users, name), runs(**values))
        yield Search(f"{name}: count", getattr(users, name), f"{RUNS}/count")
    yield from _other_pages(users, str(large.id))
    yield from _lists_of_the_api(users, str(large.id), str(schedule.id))


def _other_pages(users: history.Users, office: str) -> Iterator[Search]:
    for name in ("staff", "member", "large", "many", "owner"):
        user = getattr(users, name)
        yield Search(f"{name}: overview with failures by error", user, "/")
        yield Search(f"{name}: trends of 7 days", user, "/monitor/charts?range=7d")
        yield Search(f"{name}: search from anywhere", user, "/search?q=the+disk+is+full")
        yield Search(f"{name}: alerts", user, "/alerts")
        yield Search(f"{name}: queue", user, "/queues/QA")
        yield Search(f"{name}: trends of a queue, 7 days", user, "/monitor/charts?range=7d&role=QA")
    yield Search("staff: worker", users.staff, "/workers/worker-3@host")
    yield Search("staff: offices", users.staff, "/offices")
    rare = f"task_id={history.RARE_TASK}"
    texts = ("q=the+disk+is+full", "q=no+such+text")
    for values in ("", *texts, "status=failed", rare, "role=QA", "range=1h", "status=ready"):
        yield Search(
            f"large office: jobs, {values or 'all'}", users.large, f"/offices/{office}/jobs?{values}"
        )
    yield Search("large office: batches", users.large, f"/offices/{office}/batches")


def _lists_of_the_api(users: history.Users, office: str, schedule: str) -> Iterator[Search]:
    rare = f"task_id={history.RARE_TASK}"
    day = f"from={_days(8)}Z&to={_days(7)}Z"
    states = ("status=FAILED", "status=FAILED&status=CANCELLED", "status=RUNNING")
    tasks = ("task_id=etl.load", rare, "task_id=etl.nothing")
    causes = ("trigger=MANUAL", "trigger=STEP", f"schedule={schedule}")
    for values in ("", "page=200", "page=10000", *states, *tasks, *causes, day):
        yield Search(f"API Executions, {values or 'all'}", users.staff, f"/api/executions?{values}")
    for name in ("member", "large", "many", "owner"):
        for values in ("", "status=FAILED", rare):
            yield Search(
                f"{name}: API Executions, {values or 'all'}",
                getattr(users, name),
                f"/api/executions?{values}",
            )
    orders = ("ordering=completed_at", "ordering=-completed_at&status=done", "ordering=priority")
    for values in ("", "page=2000", "status=failed", rare, "role=QA", *orders):
        yield Search(
            f"API jobs of the large office, {values or 'all'}",
            users.large,
            f"/api/offices/{office}/jobs?{values}",
        )
    yield Search("API overview", users.staff, "/api/scheduler/monitor")


def _days(ago: int) -> str:
    from datetime import timedelta

    from django.utils import timezone

    return f"{timezone.now() - timedelta(days=ago):%Y-%m-%dT%H:%M:%S}"


def measure(search: Search) -> list[Timing]:
    """The first call is on a new connection."""
    from django.db import connection
    from django.test import Client

    client = Client(headers={"Accept-Language": "en"}, SERVER_NAME="127.0.0.1")
    client.force_login(search.user)
    if search.path.startswith("/api/"):
        from django.utils import timezone

        from jobs.models import ApiToken

        token = ApiToken.issue(search.user, "bench", timezone.now())[1]
        client = Client(headers={"Authorization": f"Token {token}"}, SERVER_NAME="127.0.0.1")
    connection.close()
    return [call(client, search.path) for _ in range(CALLS)]


def call(client: Any, path: str) -> Timing:
    from django.db import connection

    spent = 0.0

    def add(execute: Callable[..., Any], *statement: Any) -> Any:
        nonlocal spent
        began = time.perf_counter()
        try:
            return execute(*statement)
        finally:
            spent += time.perf_counter() - began

    with connection.execute_wrapper(add):
        began = time.perf_counter()
        answer = client.get(path)
        start = next(iter(answer.streaming_content)) if answer.streaming else answer.content
        total = time.perf_counter() - began
    if answer.status_code != 200:
        raise SystemExit(f"{path} answered {answer.status_code}: {start[:300]!r}")
    return Timing(total * 1000, spent * 1000, NARROWED in start.decode())


def report(search: Search, timings: list[Timing]) -> bool:
    """Print a line; whether the search reached the target."""
    first, *warm = timings
    median = statistics.median(timing.total for timing in warm)
    worst = max(timing.total for timing in warm)
    database = statistics.median(timing.database for timing in warm)
    reached = median <= TARGET_MS or first.narrowed
    notes = ("says since when" if first.narrowed else "") + ("" if reached else f"  OVER {TARGET_MS} ms")
    print(
        f"{search.name[:58]:<58} {first.total:7.0f} {median:7.0f} {worst:7.0f} {database:8.0f}  {notes}",
        flush=True,
    )
    return reached


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2_000_000, help="fewer have no deep pages")
    parser.add_argument("--only", default="", help="only searches whose name contains this")
    options = parser.parse_args()
    with scratch():
        from scheduler.clock import database_now

        began = time.monotonic()
        users = history.fill(options.runs, database_now())
        print(f"{options.runs:,} runs written in {time.monotonic() - began:.0f} s\n")
        return measure_all(users, options.only)


def measure_all(users: history.Users, only: str) -> int:
    print(f"{'milliseconds':<58} {'first':>7} {'median':>7} {'worst':>7} {'database':>8}")
    over = [
        search.name
        for search in searches(users)
        if only in search.name and not report(search, measure(search))
    ]
    if over:
        print(f"\nover the target: {', '.join(over)}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
