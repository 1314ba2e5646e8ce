"""The monitor's data: what waits, what runs, what is late and why, and how much is getting done.

Live states are read by their partial indexes and what has ended by its window, so two million ended
Executions cost nothing. Runs and schedules are the caller's; figures of the machinery are everybody's.
"""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Count, QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from jobs.models import Execution, Job, Worker
from jobs.serialize import iso_time
from jobs.sql import call
from jobs.states import ExecutionStatus, JobStatus
from scheduler import access, sql
from scheduler.api import shapes
from scheduler.models import Minute, Schedule, WorkflowRun
from scheduler.states import RunStatus

JSON = dict[str, Any]

DELAYED_AFTER = timedelta(seconds=60)
WINDOW = timedelta(days=1)
SHOWN = 10
MOST_DELAYED = 50
MINUTES = 60
# A worker that has not been heard of for so long is shown no more.
FORGOTTEN_AFTER = timedelta(hours=1)

NOBODY_LOOKED = _("It is due, and no scheduler has started it: is beat running?")


def data(user: User, now: datetime) -> JSON:
    runs = access.runs_of(user)
    return {
        "generated_at": iso_time(now),
        "counts": _run_counts(runs, now),
        "executions": _execution_counts(),
        "delayed": delayed(runs, now),
        "next": [shapes.run(one) for one in _pending(runs)[:SHOWN]],
        "next_schedules": [_next_schedule(one) for one in _due_schedules(user)],
        "recent_failures": [
            shapes.run(one) for one in runs.filter(status=RunStatus.FAILED).order_by("-ended_at")[:SHOWN]
        ],
        "queues": queues(),
        "workers": workers(user, now),
        "throughput": throughput(now),
    }


def _run_counts(runs: QuerySet[WorkflowRun], now: datetime) -> JSON:
    """Those that have not ended, and those that ended within a day."""
    live = dict(
        runs.filter(status__in=(RunStatus.PENDING, RunStatus.RUNNING))
        .order_by()
        .values_list("status")
        .annotate(number=Count("id"))
    )
    ended = dict(
        runs.filter(ended_at__gte=now - WINDOW).order_by().values_list("status").annotate(number=Count("id"))
    )
    shown = (RunStatus.PENDING, RunStatus.RUNNING, RunStatus.COMPLETED, RunStatus.FAILED)
    return {str(status): live.get(status, 0) + ended.get(status, 0) for status in shown}


def _execution_counts() -> JSON:
    """The same of Executions, everybody's."""
    pending, running = call.rows(sql.LIVE_EXECUTIONS)[0]
    done, failed, since = call.rows(sql.COUNTED_MINUTES)[0]
    done_since, failed_since = call.rows(sql.ENDED_SINCE, {"since": since})[0]
    return {
        "pending": pending,
        "running": running,
        "completed": done + done_since,
        "failed": failed + failed_since,
    }


def delayed(runs: QuerySet[WorkflowRun], now: datetime) -> list[JSON]:
    """Runs that should have begun more than a minute ago, the latest first, and what holds each back."""
    late = list(_pending(runs).filter(scheduled_time__lt=now - DELAYED_AFTER)[:MOST_DELAYED])
    found = [_delayed(run, run.scheduled_time, str(NOBODY_LOOKED), now) for run in late]
    waiting = call.rows(sql.WAITING_RUNS, {"before": now - DELAYED_AFTER, "limit": MOST_DELAYED})
    ids = [run_id for (run_id,) in waiting]
    for run in runs.filter(id__in=ids).select_related("workflow__office") if ids else ():
        found.append(_delayed(run, run.executed_at or now, _why_waiting(run, now), now))
    return sorted(found, key=lambda one: -float(one["delayed_seconds"]))


def _delayed(run: WorkflowRun, since: datetime, reason: str, now: datetime) -> JSON:
    return {**shapes.run(run), "delayed_seconds": round((now - since).total_seconds(), 1), "reason": reason}


def _why_waiting(run: WorkflowRun, now: datetime) -> str:
    if run.workflow.office.paused:
        return gettext("Its office is paused.")
    open_jobs = Job.objects.filter(batch=run.batch_id, status__in=(JobStatus.READY, JobStatus.PROCESSING))
    roles = sorted(set(open_jobs.values_list("role", flat=True)))
    unread = [role for role in roles if role not in _roles_with_workers()]
    if unread:
        return gettext("No worker takes work of the role %(roles)s.") % {"roles": ", ".join(unread)}
    if open_jobs.filter(status=JobStatus.PROCESSING).exists():
        return gettext("Its first steps were sent, and no worker was free to take them yet.")
    return gettext("Its first steps wait for a free slot of the office.")


def _roles_with_workers() -> set[str]:
    return {role for role, _ in call.rows(sql.WORKERS_BY_ROLE, {"alive": settings.DURE_LEASE_SECONDS})}


def _pending(runs: QuerySet[WorkflowRun]) -> QuerySet[WorkflowRun]:
    return runs.filter(status=RunStatus.PENDING).order_by("scheduled_time")


def _due_schedules(user: User) -> QuerySet[Schedule]:
    return access.schedules_of(user).filter(next_run_at__isnull=False).order_by("next_run_at")[:SHOWN]


def _next_schedule(one: Schedule) -> JSON:
    return {
        "id": str(one.id),
        "name": one.name,
        "task_id": one.task_id,
        "next_run_at": iso_time(one.next_run_at),
        "words": shapes.words_of(one.rule),
    }


def queues() -> list[JSON]:
    """Every role's queue: what is ready, what runs, how long the oldest waits, when work was consumed."""
    figures = {role: rest for role, *rest in call.rows(sql.QUEUES)}
    sung = {role: (seconds, seen) for role, seconds, seen in call.rows(sql.QUEUE_PROBES)}
    found = []
    for role in settings.DURE_ROLES:
        ready, processing, oldest = figures.get(role, (0, 0, None))
        seconds, seen = sung.get(role, (None, False))
        found.append(
            {
                "role": role,
                "ready": ready,
                "processing": processing,
                "oldest_ready_seconds": None if oldest is None else round(max(0.0, oldest), 1),
                "canary_seconds": round(seconds, 1) if seen else None,
            }
        )
    return found


def workers(user: User, now: datetime) -> list[JSON]:
    """Who works, on what roles, and what they run as far as the caller may see it."""
    running: dict[str, list[JSON]] = {}
    live = access.executions_of(user).filter(status=ExecutionStatus.RUNNING)
    for one in live.only("id", "task_id", "worker", "attempt_started_at").order_by("attempt_started_at")[
        :500
    ]:
        running.setdefault(one.worker, []).append(_running(one))
    return [
        {
            "name": one.name,
            "roles": one.roles,
            "slots": one.slots,
            "running": one.running,
            "draining": one.draining,
            "last_seen": iso_time(one.seen_at),
            "executions": running.get(one.name, []),
        }
        for one in Worker.objects.filter(seen_at__gte=now - FORGOTTEN_AFTER)
    ]


def _running(one: Execution) -> JSON:
    return {"execution_id": str(one.id), "task_id": one.task_id, "since": iso_time(one.attempt_started_at)}


def throughput(now: datetime) -> list[JSON]:
    """The last hour, minute by minute; the newest minutes are counted once they are over."""
    last = now.replace(second=0, microsecond=0)
    counted = {
        one.minute: one for one in Minute.objects.filter(minute__gte=last - timedelta(minutes=MINUTES))
    }
    found = []
    for back in range(MINUTES, 0, -1):
        minute = last - timedelta(minutes=back)
        one = counted.get(minute)
        found.append(
            {
                "minute": iso_time(minute),
                "done": one.done if one else 0,
                "failed": one.failed if one else 0,
                "wait_ms": one.wait_ms if one else None,
                "run_ms": one.run_ms if one else None,
            }
        )
    return found
