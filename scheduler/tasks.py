"""The scheduler's own short tasks, on the control queue, sent by PeriodicTasks: migrations/0002."""

from celery import shared_task

from jobs.sql import call
from scheduler import queue_probes, retention, sql
from scheduler.clock import database_now
from scheduler.workflows import runs
from scheduler.workflows.lifecycle import register_all


@shared_task(name="dure.register", ignore_result=True)  # type: ignore[untyped-decorator]
def register() -> None:
    """Each active workflow has its pending run: what activating and editing do at once, done again daily."""
    register_all(database_now())


@shared_task(name="dure.canary", ignore_result=True)  # type: ignore[untyped-decorator]
def send_canaries() -> None:
    """A no-op through every queue."""
    queue_probes.send_canaries()


@shared_task(name=queue_probes.SING, ignore_result=True)  # type: ignore[untyped-decorator]
def sing(role: str) -> None:
    """The canary itself: consumed on its role's queue."""
    queue_probes.seen(role)


@shared_task(name="dure.count", ignore_result=True)  # type: ignore[untyped-decorator]
def count_minutes() -> None:
    """How many Executions ended in each minute that is over; and runs whose steps were run again by hand."""
    now = database_now()
    call.change(sql.COUNT_MINUTES, {"now": now})
    runs.judge_again(now)


@shared_task(name="dure.retention", ignore_result=True)  # type: ignore[untyped-decorator]
def delete_old() -> None:
    """Delete what ended long ago."""
    retention.delete_old(database_now())
