"""The monitor: what waits, what runs, what is late and why. Everybody sees theirs, and staff all of it."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from jobs.access import offices_of
from jobs.models import Execution, Job, Worker
from jobs.pages.permissions import current_user
from jobs.pages.summary import Standing, standing
from jobs.selection import in_states
from jobs.states import EXECUTION_LIVE, JOB_LIVE, ExecutionStatus, JobStatus
from scheduler import access, monitor
from scheduler.pages.sparkline import bars
from scheduler.pages.times import language
from scheduler.schedules import words
from scheduler.workflows import recurrence

JSON = dict[str, Any]

RUNNING_SHOWN = 25
FAILURES_SHOWN = 10
OFFICES_SHOWN = 30


@require_safe
@login_required
def page(request: HttpRequest) -> HttpResponse:
    return render(request, "scheduler/monitor.html", {"section": "monitor"} | reading(current_user(request)))


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """The part of the page that is fetched again and again. Who was signed out goes to sign in."""
    if not request.user.is_authenticated:
        return HttpResponse(status=204, headers={"HX-Redirect": f"{settings.LOGIN_URL}?next=/"})
    return render(request, "scheduler/monitor_live.html", reading(current_user(request)))


def reading(user: User) -> JSON:
    now = timezone.now()
    data = monitor.data(user, now)
    late = [*data["delayed"], *unclaimed(user, now)]
    offices = list(offices_of(user)[:OFFICES_SHOWN])
    counts = standing([office.id for office in offices], now)
    last_hour = data["throughput"]
    return {
        "now": now,
        "tiles": tiles(user, data, list(counts.values())),
        "delayed": late,
        "rows": [{"office": office, "counts": counts[office.id]} for office in offices],
        "running": list(running(user)),
        "failures": failures(user, now),
        "next": in_words(data["next_schedules"]),
        "next_runs": mode_in_words(data["next"]),
        "run_failures": data["recent_failures"],
        "workers": data["workers"],
        "queues": data["queues"],
        "flower": settings.DURE_FLOWER_URL if user.is_staff else "",
        "bars": bars(last_hour),
        "done": sum(one["done"] for one in last_hour),
        "failed": sum(one["failed"] for one in last_hour),
    }


def tiles(user: User, data: JSON, counts: list[Standing]) -> JSON:
    """What waits and runs: jobs, and what no job owns. What has ended: for staff every Execution of the
    installation, for others the jobs of their offices."""
    ended = {name: sum(getattr(one, name) for one in counts) for name in ("done", "failed")}
    live = {name: sum(getattr(one, name) for one in counts) for name in ("waiting", "running")}
    if user.is_staff:
        ended = {"done": data["executions"]["completed"], "failed": data["executions"]["failed"]}
        live = live_jobs()
    loose = access.executions_of(user).filter(status__in=EXECUTION_LIVE, job__isnull=True).order_by()
    found = dict(loose.values_list("status").annotate(number=Count("*")))
    return {
        "waiting": live["waiting"] + found.get(ExecutionStatus.PENDING, 0),
        "running": live["running"] + found.get(ExecutionStatus.RUNNING, 0),
        **ended,
    }


def live_jobs() -> dict[str, int]:
    """Those of all offices, however many there are: each state from its partial index."""
    found = dict(
        Job.objects.filter(in_states(JOB_LIVE)).order_by().values_list("status").annotate(number=Count("*"))
    )
    running = found.pop(JobStatus.PROCESSING, 0)
    return {"waiting": sum(found.values()), "running": running}


def running(user: User) -> Any:
    live_ones = access.executions_of(user).filter(status=ExecutionStatus.RUNNING)
    return live_ones.select_related("job").order_by("attempt_started_at")[:RUNNING_SHOWN]


def failures(user: User, now: datetime) -> list[JSON]:
    """What failed within a day; first what nobody has run again since."""
    failed = access.executions_of(user).filter(
        status=ExecutionStatus.FAILED, finished_at__gte=now - monitor.WINDOW
    )
    found = failed.select_related("job").order_by("-finished_at")[: 3 * FAILURES_SHOWN]
    rows = [{"run": run, "handled": handled(run)} for run in found]
    return sorted(rows, key=lambda row: bool(row["handled"]))[:FAILURES_SHOWN]


def handled(run: Execution) -> bool:
    job: Job | None = run.job
    return job is not None and (job.status != JobStatus.FAILED or job.execution_id != run.id)


def unclaimed(user: User, now: datetime) -> list[JSON]:
    """Runs that were sent more than a minute ago and that no worker has taken."""
    sent = access.executions_of(user).filter(
        status=ExecutionStatus.PENDING, dispatched_at__lt=now - monitor.DELAYED_AFTER
    )
    found = list(sent.select_related("job").order_by("dispatched_at")[: monitor.MOST_DELAYED])
    if not found:
        return []
    alive = Worker.objects.filter(
        Q(seen_at__gt=now - timedelta(seconds=settings.DURE_LEASE_SECONDS)), draining=False
    )
    roles = {role for names in alive.values_list("roles", flat=True) for role in names}
    return [
        {
            "run": run,
            "delayed_seconds": (now - run.dispatched_at).total_seconds() if run.dispatched_at else None,
            "reason": gettext("It was sent, and no worker was free to take it yet.")
            if run.role in roles
            else gettext("No worker takes work of the role %(roles)s.") % {"roles": run.role},
        }
        for run in found
    ]


def in_words(schedules: list[JSON]) -> list[JSON]:
    """Each with its rule in the reader's language."""
    return [{**one, "in_words": one["words"][language()]} for one in schedules]


def mode_in_words(runs: list[JSON]) -> list[JSON]:
    """Each with when its workflow runs, as it was when the run was registered."""
    configs = (recurrence.read(one["workflow_data"]["schedule_config"]) for one in runs)
    told = (words.config_in_words(config, language()) for config in configs)
    return [{**one, "in_words": so} for one, so in zip(runs, told, strict=True)]
