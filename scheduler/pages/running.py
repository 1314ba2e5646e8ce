"""The table of what runs now, as the overview and the pages of queues and workers show it."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from jobs.insight.stats import usual_times_of_slow
from jobs.models import Execution
from jobs.states import ExecutionStatus
from scheduler import monitor
from scheduler.pages.causes import queues_of_executions


def running_context(
    executions: QuerySet[Execution], now: datetime, most: int, linked: Iterable[Any] = ()
) -> dict[str, Any]:
    """What scheduler/running.html needs. `linked` are other runs to which the page has links."""
    live = executions.filter(status=ExecutionStatus.RUNNING)
    running = list(monitor.select_shown(live).order_by("attempt_started_at")[:most])
    return {
        "running": running,
        "slow": usual_times_of_slow(running, now),
        "step_queues": queues_of_executions([*running, *linked]),
    }
