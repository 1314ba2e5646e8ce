"""Schedules beside stock django-celery-beat: the same work, the same worker, the same machine, one run.

    make bench            or, with servers of your own:  python -m tests.bench.schedules [--only herd,many]

herd      1,000 schedules due in the same second: how late each starts
many      100,000 enabled schedules: beat's memory, an idle tick, an edit's time to effect
midnight  5,000 due at once, two beats, and the API meanwhile
monitor   the monitor's answer with two million ended Executions
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

from tests.bench.measurement import CALM, poll, quantile, resident_mib
from tests.bench.scratch import NUMBERS, scratch

STOCK = "django_celery_beat.schedulers:DatabaseScheduler"
OURS = "scheduler.beat:Scheduler"
# Not due during the measurement, but in the memory of stock beat, which omits entries hours away.
IDLE = timedelta(minutes=90)
ROUNDS = 2
# So many are due at once that some wait for a worker for long.
PATIENT = {**CALM, "DURE_REPUBLISH_SECONDS": "60"}
PARTS = ("herd", "many", "midnight", "monitor")


def say(work: str, **figures: object) -> None:
    text = "   ".join(f"{name} {figure}" for name, figure in figures.items())
    print(f"{work:<62} {text}", flush=True)


@contextmanager
def beat(folder: Path, scheduler: str, name: str = "beat") -> Iterator[Any]:
    from tests.workers import celery

    process = celery(
        "beat",
        "-S",
        scheduler,
        "--pidfile",
        str(folder / f"{name}.pid"),
        log=folder / f"{name}.log",
        level="WARNING",
    )
    try:
        yield process
    finally:
        process.stop()


def now() -> datetime:
    from scheduler.clock import database_now

    return database_now()


def clear() -> None:
    from django.db import connection
    from redis import Redis

    from tests.bench.schedule_bodies import STARTS

    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE schedules, schedule_occurrences, job_attempts, job_executions CASCADE")
        # The ORM would notify beat of each row.
        cursor.execute("TRUNCATE django_celery_beat_periodictask")
    stock_models()[1].update_changed()
    with Redis.from_url(os.environ["REDIS_URL"]) as redis:
        redis.delete(STARTS)


def stock_models() -> tuple[Any, Any]:
    from django_celery_beat.models import PeriodicTask, PeriodicTasks

    return PeriodicTask, PeriodicTasks


def starts() -> list[float]:
    from redis import Redis

    from tests.bench.schedule_bodies import STARTS

    with Redis.from_url(os.environ["REDIS_URL"]) as redis:
        return [float(value) for value in redis.lrange(STARTS, 0, -1)]


def our_crons(count: int, moment: datetime) -> None:
    """Creates so many schedules that are due at this minute of the day."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO schedules (id, name, task_id, args, enabled, kind, cron, timezone, anchor, overlap,
                                   catch_up, max_retries, next_run_at, created_at, updated_at)
            SELECT dure_uuid7(now()), 'bench ' || n, 'bench.stamp', '{}', true, 'cron', %s, 'Asia/Seoul',
                   now(), 'skip', 'latest', 3, %s, now(), now()
            FROM generate_series(1, %s) AS n
            """,
            [cron_of(moment), moment, count],
        )
        cursor.execute("ANALYZE schedules")


def stock_crons(count: int, moment: datetime) -> None:
    from django_celery_beat.models import CrontabSchedule

    tasks, changes = stock_models()
    minute, hour = cron_of(moment).split()[:2]
    crontab, _ = CrontabSchedule.objects.get_or_create(minute=minute, hour=hour, timezone="Asia/Seoul")
    tasks.objects.bulk_create(
        [
            tasks(name=f"bench {n}", task="bench.plain", crontab=crontab, queue="default", date_changed=now())
            for n in range(count)
        ],
        batch_size=5_000,
    )
    changes.update_changed()


def cron_of(moment: datetime) -> str:
    from zoneinfo import ZoneInfo

    here = moment.astimezone(ZoneInfo("Asia/Seoul"))
    return f"{here.minute} {here.hour} * * *"


def next_minute(margin: float) -> datetime:
    """The first full minute after so many seconds."""
    later = now() + timedelta(seconds=margin + 60)
    return later.replace(second=0, microsecond=0)


# --- 1,000 due in the same second -------------------------------------------------------------------


def herd(folder: Path, count: int) -> None:
    """Measures both alternately and takes the better of two rounds, against disturbance by other programs."""
    from tests.workers import running

    rounds: dict[str, list[list[float]]] = {OURS: [], STOCK: []}
    with running(folder, queues="default", concurrency=2, env=PATIENT):
        for scheduler, make in ((OURS, our_crons), (STOCK, stock_crons)) * ROUNDS:
            clear()
            with beat(folder, scheduler):
                moment = next_minute(8)
                make(count, moment)
                poll(lambda: len(starts()) >= count)
            rounds[scheduler].append([start - moment.timestamp() for start in starts()])
    for q in (0.5, 0.99):
        ours, stock = (min(quantile(late, q) for late in rounds[each]) for each in (OURS, STOCK))
        work = f"{count} due in the same second: due → started, p{int(q * 100)}"
        say(work, ours=f"{ours:.2f} s", stock=f"{stock:.2f} s", ratio=f"{ours / stock:.2f}", reach="≤ 0.5")


# --- 100,000 schedules ------------------------------------------------------------------------------


def many(folder: Path, count: int) -> None:
    from scheduler.models import Schedule

    clear()
    our_crons(count, now() + IDLE)
    with beat(folder, OURS) as process:
        poll(lambda: edit_of_ours() is not None)
        edits = [edit_of_ours() or 0.0 for _ in range(10)]
        memory = resident_mib(process.pid)
    say(f"{count} schedules: memory of beat", ours=f"{memory:.0f} MiB", reach="< 150 MiB")
    say(f"{count} schedules: idle tick", ours=f"{idle_tick_of_ours() * 1000:.1f} ms", reach="< 20 ms")
    say(
        f"{count} schedules: an edit's time to effect, the longest of 10",
        ours=f"{max(edits):.2f} s",
        reach="< 1.5 s",
    )
    Schedule.with_deleted.all().delete()

    clear()
    stock_crons(count, now() + IDLE)
    with beat(folder, STOCK) as process:
        first = edit_of_stock()
        edits = [edit_of_stock() for _ in range(2)]
        memory = resident_mib(process.pid)
    say(f"{count} schedules, stock: memory of beat", stock=f"{memory:.0f} MiB")
    say(
        f"{count} schedules, stock: start, then an edit's time to effect",
        stock=f"{first:.1f} s, {max(edits):.1f} s",
    )
    say(f"{count} schedules, stock: idle tick", stock=f"{idle_tick_of_stock() * 1000:.0f} ms")
    clear()


def edit_of_ours() -> float | None:
    """Seconds from an edit that makes a schedule due until its run was decided."""
    from scheduler.models import Occurrence, Schedule
    from scheduler.schedules import lifecycle as schedules

    schedule = Schedule.objects.filter(kind="cron").order_by("?").first()
    if schedule is None:
        raise SystemExit("there is no schedule left to edit")
    edited = now()
    fields = {"kind": "once", "at": edited + timedelta(milliseconds=50)}
    schedules.change(schedule.id, fields, now=edited)
    turn = Occurrence.objects.filter(schedule=schedule)
    poll(turn.exists)
    return (turn[0].decided_at - edited).total_seconds()


def idle_tick_of_ours() -> float:
    from scheduler.beat_pass import pass_once

    pass_once()
    times = []
    for _ in range(100):
        began = time.perf_counter()
        pass_once()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def edit_of_stock() -> float:
    """Seconds from an edit to an interval of a second until its message is in the queue."""
    from django_celery_beat.models import IntervalSchedule
    from redis import Redis

    tasks, _ = stock_models()
    every, _ = IntervalSchedule.objects.get_or_create(every=1, period="seconds")
    task = tasks.objects.filter(crontab__isnull=False).first()
    queue = f"bench-edit-{task.pk}"
    with Redis.from_url(os.environ["REDIS_URL"]) as redis:
        began = time.monotonic()
        task.crontab, task.interval, task.queue = None, every, queue
        task.save()
        poll(lambda: bool(redis.llen(queue)))
        seconds = time.monotonic() - began
        redis.delete(queue)
    task.enabled = False
    task.save()
    return seconds


def idle_tick_of_stock() -> float:
    from celery import current_app
    from django_celery_beat.schedulers import DatabaseScheduler

    scheduler = DatabaseScheduler(app=current_app)
    scheduler.tick()
    times = []
    for _ in range(5):
        began = time.perf_counter()
        scheduler.tick()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


# --- 5,000 at once, two beats -----------------------------------------------------------------------


def midnight(folder: Path, count: int) -> None:
    from jobs.models import Execution
    from scheduler.models import Occurrence
    from tests.integration.web_process import running as web_running
    from tests.workers import environment, running

    clear()
    token = a_token()
    api: list[float] = []
    refused: list[str] = []
    calm = environment({**PATIENT, "DURE_LOG_LEVEL": "WARNING"})
    with (
        web_running(folder, "config.web", **calm) as web,
        running(folder, queues="default", concurrency=2, env=PATIENT),
        beat(folder, OURS, "one"),
        beat(folder, OURS, "two"),
    ):
        moment = next_minute(8)
        our_crons(count, moment)
        over = Event()
        asking = Thread(target=ask, args=(web, token, over, api, refused))
        poll(lambda: now() > moment - timedelta(seconds=1))
        asking.start()
        poll(lambda: len(starts()) >= count)
        over.set()
        asking.join()
    if refused:
        raise SystemExit(refused[0])
    late = [start - moment.timestamp() for start in starts()]
    once = Execution.objects.count() == Occurrence.objects.count() == len(late) == count
    say(f"{count} due at once, two beats: the last one started", ours=f"{max(late):.1f} s", reach="≤ 30 s")
    say(f"{count} due at once, two beats: each once", ours="yes" if once else "NO")
    slowest = f"{quantile(api, 0.99) * 1000:.0f} ms"
    say(f"the API meanwhile, p99 of {len(api)} requests", ours=slowest, reach="< 1 s")


def a_token() -> str:
    from django.contrib.auth.models import User

    from jobs.models import ApiToken

    user, _ = User.objects.get_or_create(username="bench", is_staff=True)
    return ApiToken.issue(user, "bench", now())[1]


def ask(web: Any, token: str, over: Event, times: list[float], refused: list[str]) -> None:
    """Sends reads and writes one after the other, as a client would."""
    headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"}
    schedule = b'{"name": "x", "task_id": "bench.stamp", "kind": "interval", "every_seconds": 3600}'
    requests = [
        ("GET", "/api/schedules", None),
        ("GET", "/api/executions", None),
        ("POST", "/api/schedules", schedule),
    ]
    while not over.is_set():
        for method, path, body in requests:
            began = time.perf_counter()
            answer = web.request(method, path, body, headers)
            answer.read()
            times.append(time.perf_counter() - began)
            if answer.status >= 400:
                refused.append(f"{method} {path} answered {answer.status}")
        time.sleep(0.05)


# --- the monitor with two million ended Executions ----------------------------------------------------


def monitor(folder: Path, count: int) -> None:
    from django.test import Client

    from jobs.sql import call
    from scheduler.sql import reports

    clear()
    fill(count)
    call.change(reports.ROLL_UP_MINUTES, {"now": now()})
    client = Client(headers={"Authorization": f"Token {a_token()}"}, SERVER_NAME="127.0.0.1")
    times = []
    for _ in range(60):
        began = time.perf_counter()
        answer = client.get("/api/scheduler/monitor")
        times.append(time.perf_counter() - began)
        if answer.status_code != 200:
            raise SystemExit(f"the monitor answered {answer.status_code}")
    text = f"{quantile(times[10:], 0.5) * 1000:.0f} / {quantile(times[10:], 0.99) * 1000:.0f} ms"
    say(f"the monitor with {count} ended Executions, p50 / p99", ours=text, reach="< 50 ms")


def fill(count: int) -> None:
    """Ended Executions of a month, some live work in every queue, and a workflow's runs."""
    from django.db import connection

    from scheduler.workflows import runs
    from tests.factories import an_office, submitted
    from tests.schedule_factories import a_workflow

    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(
            """
            INSERT INTO job_executions (id, task_id, role, trigger, source, args, status, dispatch,
                dispatched_at, sent_count, fence, token, worker, attempt, retry_count, crash_count,
                max_retries, retry_backoff, retry_base_delay_ms, timeout_ms, on_lost, created_at, started_at,
                attempt_started_at, finished_at, failure_type, error, session_id)
            SELECT dure_uuid7(at), 'bench.stamp', 'default', 'SCHEDULE', '', '{}',
                   CASE WHEN n %% 50 = 0 THEN 'FAILED' ELSE 'SUCCESS' END, 1, at, 1, 1, '', 'w', 1, 0, 0, 2,
                   'exponential', 60000, 1800000, 'retry', at, at, at, at, '', '', ''
            FROM (SELECT n, now() - n * interval '30 days' / %s AS at FROM generate_series(1, %s) AS n) AS t
            """,
            [count, count],
        )
        cursor.execute("ANALYZE job_executions")
    office = an_office()
    for role in ("FE", "BE", "QA"):
        submitted(office, *[{"role": role} for _ in range(100)])
    for _ in range(20):
        runs.run_now(a_workflow(office, now=now()).id, user_id=None, now=now())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--herd", type=int, default=1_000)
    parser.add_argument("--many", type=int, default=100_000)
    parser.add_argument("--midnight", type=int, default=5_000)
    parser.add_argument("--monitor", type=int, default=2_000_000)
    parser.add_argument("--redis", type=int, help="the number of a Redis database to use, and to empty")
    options = parser.parse_args()
    if options.redis is not None:
        NUMBERS.update(dict.fromkeys(NUMBERS, options.redis))
    parts: dict[str, Callable[[Path, int], None]] = {
        "herd": herd,
        "many": many,
        "midnight": midnight,
        "monitor": monitor,
    }
    with scratch("tests.bench.schedule_bodies") as folder:
        for name in options.only.split(","):
            parts[name](folder, getattr(options, name))


if __name__ == "__main__":
    main()
