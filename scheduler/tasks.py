"""The scheduler's own short tasks, on the control queue, sent by PeriodicTasks: migrations/0002."""

from celery import shared_task

from jobs.sql import call
from scheduler import queue_probes, retention, sql
from scheduler.clock import database_now
from scheduler.workflows import runs
from scheduler.workflows.lifecycle import schedule_all


@shared_task(name="dure.schedule_workflows", ignore_result=True)  # type: ignore[untyped-decorator]
def schedule_workflows() -> None:
    """Each active workflow has its pending run: what activating and editing do at once, done again daily."""
    schedule_all(database_now())


@shared_task(name="dure.send_queue_probes", ignore_result=True)  # type: ignore[untyped-decorator]
def send_queue_probes() -> None:
    """A no-op through every queue."""
    queue_probes.send_due()


@shared_task(name=queue_probes.QUEUE_PROBE, ignore_result=True)  # type: ignore[untyped-decorator]
def queue_probe(role: str) -> None:
    """The canary itself: consumed on its role's queue."""
    queue_probes.mark_seen(role)


@shared_task(name="dure.rollup_minutes", ignore_result=True)  # type: ignore[untyped-decorator]
def rollup_minutes() -> None:
    """How many Executions ended in each minute that is over; and runs whose steps were run again by hand."""
    now = database_now()
    call.change(sql.ROLL_UP_MINUTES, {"now": now})
    runs.settle_retried_runs(now)


@shared_task(name="dure.retention", ignore_result=True)  # type: ignore[untyped-decorator]
def delete_old() -> None:
    """Delete what ended long ago."""
    retention.delete_old(database_now())
