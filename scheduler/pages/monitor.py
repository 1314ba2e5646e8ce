"""The overview. Users see their own work, staff everything."""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from jobs import workers
from jobs.access import offices_of
from jobs.insight.stats import office_counts
from jobs.models import Execution, Job
from jobs.pages.permissions import current_user
from jobs.queues import served_roles
from jobs.states import ExecutionStatus, JobStatus
from scheduler import access, beats, display, failures, monitor, queue_lengths, work_counts
from scheduler.access import Origins
from scheduler.models import Schedule, WorkflowRun
from scheduler.monitor import Late
from scheduler.pages.running import running_context
from scheduler.workflows import recurrence

RUNNING_LIMIT = 25
FAILURES_LIMIT = 10
OFFICES_LIMIT = 30


@require_safe
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
    now, limit = timezone.now(), monitor.LIST_LIMIT
    origins = None if user.is_staff else access.read_origins(user)
    executions, runs = access.executions_of(user, origins), access.runs_of(user, origins)
    offices = list(offices_of(user)[:OFFICES_LIMIT])
    counts = office_counts([office.id for office in offices], now)
    served, pending = served_roles(), monitor.pending_runs(runs)
    sent = unclaimed_executions(executions, served, now)
    failed = failures.recent_groups(executions, now, FAILURES_LIMIT)
    ready = late_ready_jobs(origins, now)
    linked = [*(late.execution for late in sent), *(group.last for group in failed)]
    return {
        "now": now,
        "tiles": work_counts.of(user, origins, list(counts.values()), now),
        "beat": beats.status(),
        "run_counts": monitor.run_counts(runs, now),
        "delayed": [
            *monitor.late_runs(runs, pending, now),
            *sent,
            *unserved_jobs(ready, served, now),
            *forbidden_jobs(user, ready, served, now),
        ],
        "rows": [{"office": office, "counts": counts[office.id]} for office in offices],
        **running_context(executions, now, RUNNING_LIMIT, linked),
        "failures": failed,
        "next": upcoming_runs(monitor.due_schedules(user)[:limit], pending[:limit])[:limit],
        "run_failures": monitor.failed_runs(runs)[:limit],
        **(installation(user, now) if user.is_staff else {}),
    }


def installation(user: User, now: datetime) -> dict[str, Any]:
    """What only staff see: workers and queues, which all offices share."""
    return {
        "workers": [(worker, workers.is_online(worker, now)) for worker in monitor.workers(now)],
        "queues": queue_lengths.queues(user, now),
        "flower": settings.DURE_FLOWER_URL,
    }


def unclaimed_executions(executions: QuerySet[Execution], served: set[str], now: datetime) -> list[Late]:
    """Executions that were sent more than a minute ago and that no worker has claimed."""
    sent = executions.filter(status=ExecutionStatus.PENDING, dispatched_at__lt=now - monitor.LATE_AFTER)
    busy = gettext("It was sent to workers, but no worker was free to start it yet.")
    return [
        Late(
            (now - (execution.dispatched_at or now)).total_seconds(),
            busy if execution.role in served else monitor.no_worker(execution.role),
            execution=execution,
        )
        for execution in monitor.select_shown(sent).order_by("dispatched_at")[: monitor.LATE_LIMIT]
    ]


def late_ready_jobs(origins: Origins | None, now: datetime) -> QuerySet[Job]:
    """Jobs that have waited for more than a minute for a slot and a worker."""
    ready = Job.objects.filter(status=JobStatus.READY, ready_at__lt=now - monitor.LATE_AFTER)
    return ready.filter(office__in=origins.offices) if origins else ready


def unserved_jobs(ready: QuerySet[Job], served: set[str], now: datetime) -> list[Late]:
    """Those that have waited for a role without a worker."""
    return _describe_delays(ready.exclude(role__in=served), now, monitor.no_worker)


def forbidden_jobs(user: User, ready: QuerySet[Job], served: set[str], now: datetime) -> list[Late]:
    """Those that have waited in an office whose limit for their role is 0."""
    roles = [
        Q(office=office, role=role)
        for office, limits in monitor.offices_with_limit_0(user).values_list("pk", "max_concurrent_by_role")
        for role, limit in limits.items()
        if limit == 0
    ]
    if not roles:
        return []
    return _describe_delays(ready.filter(reduce(or_, roles), role__in=served), now, monitor.limit_0)


def _describe_delays(jobs: QuerySet[Job], now: datetime, reason: Callable[[str], str]) -> list[Late]:
    return [
        Late((now - (job.ready_at or now)).total_seconds(), reason(job.role), job=job)
        for job in jobs.order_by("ready_at")[: monitor.LATE_LIMIT]
    ]


def upcoming_runs(schedules: Iterable[Schedule], runs: Iterable[WorkflowRun]) -> list[dict[str, Any]]:
    """Scheduled runs and workflow runs, soonest first, each with its rule in words."""
    rows: list[dict[str, Any]] = [
        {
            "at": schedule.next_run_at,
            "schedule": schedule,
            "in_words": display.rule_in_words(schedule.rule),
        }
        for schedule in schedules
    ]
    for run in runs:
        # As it was when the run was scheduled; a run that was inserted by hand has none.
        config = run.workflow_data.get("schedule_config")
        in_words = display.config_in_words(recurrence.read(config)) if config else ""
        rows.append({"at": run.scheduled_time, "run": run, "in_words": in_words})
    return sorted(rows, key=lambda row: row["at"])
