"""Short maintenance tasks on the control queue, sent by PeriodicTasks."""

from celery import shared_task

from jobs.publish import send_control
from jobs.sql import call
from scheduler import queue_probes, retention
from scheduler.clock import database_now
from scheduler.sql import reports
from scheduler.workflows import runs
from scheduler.workflows.lifecycle import schedule_all

RETENTION = "dure.retention"
# How often beat sends it, unless an operator has changed that.
RETENTION_SECONDS = 300.0


@shared_task(name="dure.schedule_workflows", ignore_result=True)  # type: ignore[untyped-decorator]
def schedule_workflows() -> None:
    """Make sure each active workflow has its pending run. Activating and editing do this at once too."""
    schedule_all(database_now())


@shared_task(name="dure.send_queue_probes", ignore_result=True)  # type: ignore[untyped-decorator]
def send_queue_probes() -> None:
    """Send a no-op message through every queue."""
    queue_probes.send_due()


# Without events: most of the tasks that Flower shows would be these.
@shared_task(name=queue_probes.QUEUE_PROBE, ignore_result=True, send_events=False)  # type: ignore[untyped-decorator]
def queue_probe(role: str) -> None:
    """The no-op message, consumed on its role's queue."""
    queue_probes.mark_seen(role)


@shared_task(name="dure.rollup_minutes", ignore_result=True)  # type: ignore[untyped-decorator]
def rollup_minutes() -> None:
    """Count the Executions that ended in each past minute, and settle runs with retried steps again."""
    now = database_now()
    call.change(reports.ROLL_UP_MINUTES, {"now": now})
    call.change(reports.SAMPLE_QUEUES, {"now": now})
    runs.settle_retried_runs(now)


@shared_task(name=RETENTION, ignore_result=True)  # type: ignore[untyped-decorator]
def delete_old(until: float | None = None) -> None:
    """Delete rows that ended long ago, pass by pass with other tasks between, until beat sends the next."""
    now = database_now()
    until = until or now.timestamp() + RETENTION_SECONDS
    if not retention.delete_old(now).finished and now.timestamp() < until:
        send_control(RETENTION, until, expires=RETENTION_SECONDS)
