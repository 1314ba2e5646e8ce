"""The Tasks that carry step queues, one Celery task each. Only the system itself starts them.

One Celery task carries every operation; the Execution's role says on which queue it waits.
"""

from typing import Any

from jobs.context import Context
from jobs.registry import task
from scheduler.steps import notifications, operations


@task("steps.operate", public=False)
def operate(ctx: Context, queue_id: int, job_id: str, direction: str, library: str, operation: str) -> Any:
    """Carries out one operation of a step queue."""
    return operations.carry_out(ctx, queue_id, job_id, direction, library, operation)


@task("steps.deliver", public=False)
def deliver(ctx: Context, event: int, webhook: int | None = None) -> dict[str, Any] | None:
    """Tells a callback or a webhook of one event of a step queue."""
    return notifications.deliver(event, webhook)


@task("steps.mail", public=False)
def mail(ctx: Context, event: int, address: str) -> None:
    """Tells an operator that something could not be undone."""
    notifications.send_mail(event, address)
