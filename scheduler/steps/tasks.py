"""The Tasks of step queues; only the system starts them.

One Task runs every operation; the role of its Execution chooses the Celery queue.
"""

from typing import Any

from dure import Context, task
from jobs.context import RunContext
from scheduler.steps import notifications, operations


@task("steps.operate", public=False)
def operate(ctx: RunContext, queue_id: int, job_id: str, direction: str, library: str, operation: str) -> Any:
    """Runs one operation of a step queue."""
    return operations.run_operation(ctx, queue_id, job_id, direction, library, operation)


@task("steps.deliver", public=False)
def deliver(ctx: Context, event: int, webhook: int | None = None) -> dict[str, Any] | None:
    """Sends one event of a step queue to its callback or to a webhook."""
    return notifications.deliver(event, webhook)


@task("steps.mail", public=False)
def mail(ctx: Context, event: int, address: str) -> None:
    """Tells an operator by mail that a rollback failed."""
    notifications.send_mail(event, address)
