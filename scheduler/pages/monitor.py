"""The overview. Users see their own work, staff everything."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from jobs import workers
from jobs.access import offices_of
from jobs.insight.stats import OfficeCounts, office_counts, unclaimed_jobs, usual_times_of_slow
from jobs.models import Execution, Job
from jobs.pages.permissions import current_user
from jobs.queues import served_roles
from jobs.selection import in_states
from jobs.states import EXECUTION_LIVE, JOB_LIVE, ExecutionStatus, JobStatus
from scheduler import access, beats, failures, monitor
from scheduler.models import Schedule, WorkflowRun
from scheduler.pages.causes import queues_of_executions
from scheduler.pages.times import language
from scheduler.schedules import words
from scheduler.workflows import recurrence

RUNNING_LIMIT = 25
FAILURES_LIMIT = 10
OFFICES_LIMIT = 30


@require_safe
@login_required
def page(request: HttpRequest) -> HttpResponse:
    context = {"section": "monitor"} | overview(current_user(request))
    return render(request, "scheduler/monitor.html", context)


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """The refreshed part of the page. A reader who was signed out is redirected to the sign-in page."""
    if not request.user.is_authenticated:
        return HttpResponse(status=204, headers={"HX-Redirect": f"{settings.LOGIN_URL}?next=/"})
    return render(request, "scheduler/monitor_live.html", overview(current_user(request)))


def overview(user: User) -> dict[str, Any]:
    now = timezone.now()
    offices = list(offices_of(user)[:OFFICES_LIMIT])
    counts = office_counts([office.id for office in offices], now)
    limit = monitor.LIST_LIMIT
    sent = unclaimed(user, now)
    in_progress = list(running(user))
    failed = failures.recent_groups(user, now, FAILURES_LIMIT)
    linked = [*(row["execution"] for row in sent), *in_progress, *(group.last for group in failed)]
    return {
        "now": now,
        "tiles": tiles(user, list(counts.values()), now),
        "beat": beats.status(),
        "run_counts": monitor.run_counts(user, now),
        "delayed": [*monitor.late_runs(user, now), *sent, *unserved(user, now), *forbidden(user, now)],
        "rows": [{"office": office, "counts": counts[office.id]} for office in offices],
        "running": in_progress,
        "slow": usual_times_of_slow(in_progress, now),
        "failures": failed,
        "step_queues": queues_of_executions(linked),
        "next": upcoming_runs(monitor.due_schedules(user)[:limit], monitor.pending_runs(user)[:limit])[:limit],
        "run_failures": monitor.failed_runs(user)[:limit],
        **(installation(now) if user.is_staff else {"no_worker": not served_roles()}),
    }


def installation(now: datetime) -> dict[str, Any]:
    """What only staff see: workers and queues, which all offices share."""
    return {
        "workers": [(worker, workers.is_online(worker, now)) for worker in monitor.workers(now)],
        "no_worker": not served_roles(),
        "queues": monitor.queues(),
        "flower": settings.DURE_FLOWER_URL,
    }


def tiles(user: User, counts: Sequence[OfficeCounts], now: datetime) -> dict[str, int]:
    """Jobs, and Executions without a job. Ended work of staff: every Execution of the installation."""
    if user.is_staff:
        ended = monitor.execution_counts()
        totals = live_jobs() | {"done": ended.completed, "failed": ended.failed}
    else:
        names = ("waiting", "running", "done", "failed")
        totals = {name: sum(getattr(office, name) for office in counts) for name in names}
        for part in access.executions_without_job(user):
            ended_part = part.filter(job__isnull=True, finished_at__gte=now - monitor.WINDOW).order_by()
            numbers = dict(ended_part.values_list("status").annotate(number=Count("*")))
            totals["done"] += numbers.get(ExecutionStatus.SUCCESS, 0)
            totals["failed"] += numbers.get(ExecutionStatus.FAILED, 0)
    without_job = access.executions_of(user).filter(status__in=EXECUTION_LIVE, job__isnull=True).order_by()
    live = dict(without_job.values_list("status").annotate(number=Count("*")))
    totals["waiting"] += live.get(ExecutionStatus.PENDING, 0)
    totals["running"] += live.get(ExecutionStatus.RUNNING, 0)
    return totals


def live_jobs() -> dict[str, int]:
    """Live jobs of all offices: each state is counted by its partial index."""
    jobs = Job.objects.filter(in_states(JOB_LIVE)).order_by()
    counts = dict(jobs.values_list("status").annotate(number=Count("*")))
    unclaimed_count = unclaimed_jobs().total()
    running = counts.pop(JobStatus.PROCESSING, 0) - unclaimed_count
    return {"waiting": sum(counts.values()) + unclaimed_count, "running": max(0, running)}


def running(user: User) -> QuerySet[Execution]:
    live = access.executions_of(user).filter(status=ExecutionStatus.RUNNING)
    return live.select_related("job").order_by("attempt_started_at")[:RUNNING_LIMIT]


def unclaimed(user: User, now: datetime) -> list[dict[str, Any]]:
    """Executions that were sent more than a minute ago and that no worker has claimed."""
    sent = access.executions_of(user).filter(
        status=ExecutionStatus.PENDING, dispatched_at__lt=now - monitor.LATE_AFTER
    )
    late = list(sent.select_related("job").order_by("dispatched_at")[: monitor.LATE_LIMIT])
    served = served_roles() if late else set()
    busy = gettext("It was sent to workers, but no worker was free to start it yet.")
    return [
        {
            "execution": execution,
            "late_seconds": execution.dispatched_at and (now - execution.dispatched_at).total_seconds(),
            "reason": busy if execution.role in served else monitor.no_worker(execution.role),
        }
        for execution in late
    ]


def unserved(user: User, now: datetime) -> list[dict[str, Any]]:
    """Jobs that have waited for more than a minute for a role without a worker."""
    waiting = _ready(user, now).exclude(role__in=served_roles())
    return _late_jobs(waiting, now, monitor.no_worker)


def forbidden(user: User, now: datetime) -> list[dict[str, Any]]:
    """Jobs that have waited for more than a minute in an office whose limit for their role is 0."""
    roles = [
        Q(office=office, role=role)
        for office, limits in monitor.offices_with_limit_0(user).values_list("pk", "max_concurrent_by_role")
        for role, limit in limits.items()
        if limit == 0
    ]
    if not roles:
        return []
    waiting = _ready(user, now).filter(reduce(or_, roles), role__in=served_roles())
    return _late_jobs(waiting, now, monitor.limit_0)


def _ready(user: User, now: datetime) -> QuerySet[Job]:
    since = now - monitor.LATE_AFTER
    return Job.objects.filter(office__in=offices_of(user), status=JobStatus.READY, ready_at__lt=since)


def _late_jobs(jobs: QuerySet[Job], now: datetime, reason: Callable[[str], str]) -> list[dict[str, Any]]:
    return [
        {
            "job": job,
            "late_seconds": job.ready_at and (now - job.ready_at).total_seconds(),
            "reason": reason(job.role),
        }
        for job in jobs.order_by("ready_at")[: monitor.LATE_LIMIT]
    ]


def upcoming_runs(schedules: Iterable[Schedule], runs: Iterable[WorkflowRun]) -> list[dict[str, Any]]:
    """Scheduled runs and workflow runs, soonest first, each with its rule in words."""
    rows: list[dict[str, Any]] = [
        {
            "at": schedule.next_run_at,
            "schedule": schedule,
            "in_words": words.rule_in_words(schedule.rule, language()),
        }
        for schedule in schedules
    ]
    for run in runs:
        # As it was when the run was scheduled; a run that was inserted by hand has none.
        config = run.workflow_data.get("schedule_config")
        in_words = words.config_in_words(recurrence.read(config), language()) if config else ""
        rows.append({"at": run.scheduled_time, "run": run, "in_words": in_words})
    return sorted(rows, key=lambda row: row["at"])
