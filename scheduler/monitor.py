"""The data of the overview: pending, running, late and failed runs, workers and throughput.

Queries read live states by partial indexes, and ended ones by a time window, so millions of ended
Executions cost nothing. Workflow runs and schedules are those that the user may see; workers and throughput
are those of the installation, which only staff see.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Count, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils.translation import gettext as _

from jobs.access import office_ids_of
from jobs.models import Execution, Job, Office, Worker
from jobs.queues import paused_roles, served_roles
from jobs.sql import call
from jobs.states import ExecutionStatus, JobStatus
from scheduler import access
from scheduler.models import Minute, Schedule, WorkflowRun
from scheduler.sql import reports
from scheduler.states import RunStatus

LATE_AFTER = timedelta(seconds=60)
WINDOW = timedelta(days=1)
LIST_LIMIT = 10
LATE_LIMIT = 50
OFFICES_WITH_LIMIT_0 = 100
RUNNING_LIMIT = 500
MINUTES = 60
# How long a worker is listed after its last heartbeat.
WORKER_LISTED_FOR = timedelta(hours=1)
SHOWN_OF_RUN = (
    *("task_id", "role", "trigger", "source", "args", "office_id", "worker", "progress"),
    *("dispatched_at", "attempt_started_at", "locked_until", "finished_at"),
)
SHOWN_OF_JOB = ("job__office_id", "job__ref")


@dataclass(frozen=True)
class Late:
    """What should have started by now, and why it has not: a workflow run, an Execution or a job."""

    late_seconds: float
    reason: str
    run: WorkflowRun | None = None
    execution: Execution | None = None
    job: Job | None = None


def select_shown(executions: QuerySet[Execution]) -> QuerySet[Execution]:
    """With what tables show of runs and of their jobs; the other columns, such as a result, may be large."""
    return executions.select_related("job").only(*SHOWN_OF_RUN, *SHOWN_OF_JOB)


def run_counts(runs: QuerySet[WorkflowRun], now: datetime) -> dict[str, int]:
    """How many runs have each state; of those that ended, within the window."""
    # Each of these three has an index of its own.
    recent = Q(status=RunStatus.PENDING) | Q(status=RunStatus.RUNNING) | Q(ended_at__gte=now - WINDOW)
    counts = runs.filter(recent).order_by().values_list("status").annotate(number=Count("*"))
    return dict.fromkeys(RunStatus.values, 0) | dict(counts)


def ended_executions() -> tuple[int, int]:
    """How many Executions of the whole installation succeeded and failed within a day."""
    done, failed, since = call.rows(reports.COUNTED_MINUTES)[0]
    done_since, failed_since = call.rows(reports.ENDED_SINCE, {"since": since})[0]
    return done + done_since, failed + failed_since


def late_runs(runs: QuerySet[WorkflowRun], pending: Iterable[WorkflowRun], now: datetime) -> list[Late]:
    """Those without a started step a minute after their time, latest first, with the reason.

    `pending` are the first that are pending, in the order of their time.
    """
    overdue = [run for run in pending if run.scheduled_time < now - LATE_AFTER]
    not_started = _("It is due, but no scheduler has started it. Is beat running?")
    late = [Late((now - run.scheduled_time).total_seconds(), not_started, run) for run in overdue]
    waiting = call.rows(reports.WAITING_RUNS, {"before": now - LATE_AFTER, "limit": LATE_LIMIT})
    ids = [run_id for (run_id,) in waiting]
    for run in runs.filter(id__in=ids).select_related("workflow__office") if ids else ():
        seconds = (now - (run.executed_at or now)).total_seconds()
        late.append(Late(seconds, _waiting_reason(run), run))
    return sorted(late, key=lambda entry: -entry.late_seconds)


def _waiting_reason(run: WorkflowRun) -> str:
    if run.workflow.office.paused:
        return _("Its office is paused.")
    open_jobs = Job.objects.filter(batch=run.batch_id, status__in=(JobStatus.READY, JobStatus.PROCESSING))
    if open_jobs.filter(role__in=paused_roles()).exists():
        return _("The queue of its first steps is paused.")
    unserved = sorted(set(open_jobs.values_list("role", flat=True)) - served_roles())
    if unserved:
        return no_worker(", ".join(unserved))
    if open_jobs.filter(held=True, status=JobStatus.READY).exists():
        return _("Its first steps wait for a limit of their Task.")
    if open_jobs.filter(status=JobStatus.PROCESSING).exists():
        return _("Its first steps were sent to workers, but no worker was free to start them yet.")
    return _("Its first steps wait for a free slot of the office.")


def no_worker(roles: str) -> str:
    return _("No online worker serves the role %(roles)s.") % {"roles": roles}


def limit_0(role: str) -> str:
    return _("The office allows no jobs of the role %(role)s: its limit is 0.") % {"role": role}


def offices_with_limit_0(user: User) -> QuerySet[Office]:
    """Offices that allow no jobs of some role."""
    limits = Cast("max_concurrent_by_role", TextField())
    offices = Office.objects.filter(pk__in=office_ids_of(user)).alias(limits=limits)
    return offices.filter(limits__regex=r": 0[,}]")[:OFFICES_WITH_LIMIT_0]


def pending_runs(runs: QuerySet[WorkflowRun]) -> list[WorkflowRun]:
    """The first that are pending, in the order of their time: those that are overdue, and the next ones."""
    return list(runs.filter(status=RunStatus.PENDING).order_by("scheduled_time")[:LATE_LIMIT])


def failed_runs(runs: QuerySet[WorkflowRun]) -> QuerySet[WorkflowRun]:
    return runs.filter(status=RunStatus.FAILED).order_by("-ended_at")


def due_schedules(user: User) -> QuerySet[Schedule]:
    return access.schedules_of(user).filter(next_run_at__isnull=False).order_by("next_run_at")


def workers(now: datetime) -> QuerySet[Worker]:
    return Worker.objects.filter(seen_at__gte=now - WORKER_LISTED_FOR)


def running_by_worker(user: User) -> dict[str, list[Execution]]:
    """The running Executions that the user may see, by the name of their worker."""
    live = access.executions_of(user).filter(status=ExecutionStatus.RUNNING).order_by("attempt_started_at")
    by_worker: dict[str, list[Execution]] = {}
    for execution in live.only("id", "task_id", "worker", "attempt_started_at")[:RUNNING_LIMIT]:
        by_worker.setdefault(execution.worker, []).append(execution)
    return by_worker


def throughput(now: datetime) -> list[Minute]:
    """The last hour by minute, oldest first. A minute is counted once it is over; until then it is empty."""
    last = now.replace(second=0, microsecond=0)
    minutes = [last - timedelta(minutes=back) for back in range(MINUTES, 0, -1)]
    counted = Minute.objects.in_bulk(minutes)
    return [counted.get(minute) or Minute(minute=minute, done=0, failed=0) for minute in minutes]
