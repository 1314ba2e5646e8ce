"""When an office's jobs will probably start and end, from what its runs took lately."""

from datetime import datetime, timedelta

from jobs.insight import stats
from jobs.insight.forecast import Work, forecast
from jobs.models import Office
from jobs.sql import call, reports
from jobs.states import JobStatus, OnDependencyFailure

# Beyond this many jobs a guess takes longer than it is worth.
MOST_JOBS = 20_000

# By the id of the job: its start and its end.
Times = dict[str, tuple[datetime, datetime | None]]


def outlook(office: Office, now: datetime) -> Times:
    """Start and end of the jobs that have not ended, as far as they can be told."""
    works = live_works(office, now)
    spans = forecast(works, office.max_concurrent_jobs, office.max_concurrent_by_role, office.paused)
    return {
        str(job): (
            now + timedelta(seconds=span.start),
            None if span.end is None else now + timedelta(seconds=span.end),
        )
        for job, span in spans.items()
    }


def live_works(office: Office, now: datetime) -> list[Work]:
    known = stats.run_times(office.id)
    rows = call.rows(reports.LIVE_JOBS, {"office": office.id, "most": MOST_JOBS + 1})
    if len(rows) > MOST_JOBS:
        return []
    parents = {
        job: found.split() for job, found in call.rows(reports.PARENTS_OF_WAITING, {"office": office.id})
    }
    live = {row[0] for row in rows}
    ended = {parent for found in parents.values() for parent in found} - live
    not_done = {job for (job,) in call.rows(reports.NOT_DONE, {"jobs": list(ended)})} if ended else set()
    works = []
    for job, role, urgent, priority, seq, status, task_id, policy, due, began in rows:
        waits_for = parents.get(job, [])
        running_for = None
        if status == JobStatus.PROCESSING:
            # Sent and not yet claimed is as good as started.
            running_for = max(0.0, (now - began).total_seconds()) if began is not None else 0.0
        works.append(
            Work(
                id=job,
                role=role,
                order=(not urgent, priority, seq),
                seconds=known.get(task_id),
                parents=[parent for parent in waits_for if parent in live],
                not_before=max(0.0, (due - now).total_seconds()) if due is not None else 0.0,
                running_for=running_for,
                blocked=policy != OnDependencyFailure.RUN and not not_done.isdisjoint(waits_for),
            )
        )
    return works
