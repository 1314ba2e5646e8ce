"""The Execution that a schedule starts: its own policies before those of its Task."""

from datetime import datetime

from jobs.known_tasks import KnownTask
from jobs.specs import ExecutionSpec
from jobs.states import Trigger
from scheduler.exclusion import owner_of
from scheduler.models import Schedule


def spec_for(
    schedule: Schedule,
    task: KnownTask,
    *,
    trigger: Trigger,
    source: str,
    scheduled_for: datetime | None = None,
) -> ExecutionSpec:
    return ExecutionSpec.for_task(
        task,
        owner=owner_of(schedule),
        trigger=trigger,
        source=source,
        args=schedule.args,
        max_retries=schedule.max_retries,
        retry_backoff=schedule.retry_backoff or None,
        retry_base_delay_ms=schedule.retry_base_delay,
        timeout_ms=schedule.timeout_ms,
        on_lost=schedule.on_lost or task.on_lost,
        scheduled_for=scheduled_for,
    )
