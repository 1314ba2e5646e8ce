"""The Tasks of step queues. Only the system starts them, except `steps.run_queue`.

One Task runs every operation; the role of its Execution chooses the Celery queue.
"""

from typing import Annotated, Any

from pydantic import Field

from dure import Context, task
from jobs.context import RunContext
from scheduler.steps import notifications, operations
from scheduler.steps import run_queue as queue_runs


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


@task(
    queue_runs.RUN_QUEUE,
    timeout=86_400,
    # A queue that has rolled back is not run again by itself; a worker without a free process is waited for.
    autoretry_for=(queue_runs.AllProcessesWait,),
    max_retries=20,
    retry_backoff=10,
    retry_backoff_max=60,
    on_cancel=queue_runs.roll_back,
)
def run_queue(
    ctx: Context, queue_id: Annotated[int, Field(ge=1, le=2**63 - 1)], wait: bool = True
) -> dict[str, Any]:
    """Runs a copy of a step queue. With `wait` it ends as the queue does, and returns its context."""
    return queue_runs.run_copy(ctx, queue_id, wait=wait)
