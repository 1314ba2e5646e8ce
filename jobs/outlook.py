"""When an office's jobs will probably start and end, from what its runs took lately."""

from collections import defaultdict
from datetime import datetime, timedelta
from uuid import UUID

from jobs import stats
from jobs.forecast import Work, forecast
from jobs.models import Dependency, Job, Office
from jobs.states import (
    JOB_ENDED,
    JOB_LIVE,
    JOB_WAITING,
    ExecutionStatus,
    JobStatus,
    OnDependencyFailure,
)

# Beyond this many jobs a guess takes longer than it is worth.
MOST_JOBS = 20_000

Times = dict[UUID, tuple[datetime, datetime | None]]


def outlook(office: Office, now: datetime) -> Times:
    """Start and end of the jobs that have not ended, as far as they can be told."""
    works = live_works(office, now)
    spans = forecast(works, office.max_concurrent_jobs, office.max_concurrent_by_role, office.paused)
    return {
        UUID(str(number)): (
            now + timedelta(seconds=span.start),
            None if span.end is None else now + timedelta(seconds=span.end),
        )
        for number, span in spans.items()
    }


def live_works(office: Office, now: datetime) -> list[Work]:
    known = stats.run_times(office.id)
    live = Job.objects.filter(office=office, status__in=JOB_LIVE).values_list(
        "id", "role", "urgent", "priority", "seq", "status", "task_id", "due_at", "retry_at",
        "execution__status", "execution__attempt_started_at",
    )[: MOST_JOBS + 1]  # fmt: skip
    rows = list(live)
    if len(rows) > MOST_JOBS:
        return []
    parents, blocked = unmet(office)
    works = []
    for number, role, urgent, priority, seq, status, task_id, due_at, retry_at, run, began in rows:
        running_for = None
        if status == JobStatus.PROCESSING:
            # Sent and not yet claimed: as good as started.
            running_for = 0.0
            if run == ExecutionStatus.RUNNING and began is not None:
                running_for = max(0.0, (now - began).total_seconds())
        due = due_at or retry_at
        works.append(
            Work(
                id=number,
                role=role,
                order=(not urgent, priority, seq),
                seconds=known.get(task_id),
                parents=parents.get(number, ()),
                not_before=max(0.0, (due - now).total_seconds()) if due else 0.0,
                running_for=running_for,
                blocked=number in blocked,
            )
        )
    return works


def unmet(office: Office) -> tuple[dict[UUID, list[UUID]], set[UUID]]:
    """What waiting jobs still wait for, and those for which somebody has to do something first."""
    parents: dict[UUID, list[UUID]] = defaultdict(list)
    blocked: set[UUID] = set()
    edges = Dependency.objects.filter(job__office=office, job__status__in=JOB_WAITING).exclude(
        parent__status=JobStatus.DONE
    )
    for child, parent, status, policy in edges.values_list(
        "job_id", "parent_id", "parent__status", "job__on_dependency_failure"
    ):
        if status not in JOB_ENDED:
            parents[child].append(parent)
        elif policy != OnDependencyFailure.RUN:
            blocked.add(child)
    return parents, blocked
