"""How a Task wants to be run when no office says so: what an Execution is started with."""

from datetime import datetime
from typing import Any
from uuid import UUID

from jobs.registry import Task
from jobs.states import Backoff

MAX_RETRIES = 3
RETRY_DELAY_MS = 60_000
TIMEOUT_MS = 30 * 60_000


def order(
    task: Task,
    execution: UUID,
    *,
    trigger: str,
    source: str,
    args: dict[str, Any],
    max_retries: int | None = None,
    scheduled_for: datetime | None = None,
) -> dict[str, Any]:
    if max_retries is None:
        max_retries = MAX_RETRIES if task.max_retries is None else task.max_retries
    return {
        "id": execution,
        "task_id": task.task_id,
        "role": task.role,
        "trigger": trigger,
        "source": source,
        "args": args,
        "max_retries": max_retries,
        "retry_backoff": Backoff.EXPONENTIAL,
        "retry_base_delay_ms": RETRY_DELAY_MS
        if task.retry_backoff is None
        else int(task.retry_backoff * 1000),
        "timeout_ms": TIMEOUT_MS if task.timeout is None else int(task.timeout * 1000),
        "on_lost": task.on_lost,
        "scheduled_for": scheduled_for,
    }
