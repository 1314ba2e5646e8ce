"""How much waits, runs, succeeded and failed of what a user sees: jobs, and Executions without a job."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Count, Q

from jobs.insight.stats import OfficeCounts, live_counts
from jobs.states import EXECUTION_LIVE, ExecutionStatus
from scheduler import access, monitor
from scheduler.access import Origins

# What is counted, and the status of the Executions without a job among it.
COUNTED = {
    "waiting": ExecutionStatus.PENDING,
    "running": ExecutionStatus.RUNNING,
    "done": ExecutionStatus.SUCCESS,
    "failed": ExecutionStatus.FAILED,
}


def of(user: User, origins: Origins | None, counts: Sequence[OfficeCounts], now: datetime) -> dict[str, int]:
    """Jobs, and Executions without a job. Ended work of staff: every Execution of the installation."""
    without_job = access.executions_of(user, origins).filter(job__isnull=True)
    parts = [without_job.filter(status__in=EXECUTION_LIVE)]
    if user.is_staff:
        counts = [live_counts(), OfficeCounts(0, 0, *monitor.ended_executions())]
    else:
        ended = Q(job__isnull=True, finished_at__gte=now - monitor.WINDOW)
        parts += [part.filter(ended) for part in access.executions_without_job(user, origins)]
    first, *others = (part.order_by().values_list("status").annotate(number=Count("*")) for part in parts)
    numbers: Counter[str] = Counter()
    for status, number in first.union(*others, all=True) if others else first:
        numbers[status] += number
    return {
        name: sum(getattr(office, name) for office in counts) + numbers[status]
        for name, status in COUNTED.items()
    }
