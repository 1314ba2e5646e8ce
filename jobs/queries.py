"""Queries about a job or a run, for the API, the pages, the admin and the command line."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from dure.roles import is_role
from jobs import catalogue
from jobs.display import Bar, time_bar
from jobs.models import Attempt, Event, Execution, Job, Office, Worker
from jobs.states import CLIENT_EVENTS, ExecutionStatus
from jobs.texts import printable

MOST_NEIGHBOURS = 50
MOST_EVENTS = 100
# An office's events have no index by job, to keep their writing cheap: only the newest are searched.
EVENTS_SEARCHED = 20_000
# The key of a result under which Tasks store the end of a program's output.
OUTPUT_TAIL = "output_tail"
MOST_OUTPUT = 20_000


@dataclass(frozen=True)
class AttemptRow:
    """One attempt of a run, with its bar on a timeline."""

    attempt: Attempt
    bar: Bar | None


@dataclass(frozen=True)
class RunRow:
    run: Execution
    attempts: list[AttemptRow]


def runs_of(job: Job, now: datetime) -> list[RunRow]:
    """The job's runs, newest first, with their attempts on one timeline."""
    last = job.completed_at or now
    runs = executions_of(job).reverse()
    return [RunRow(run, attempts_of(run, job.created_at, last, now)) for run in runs]


def attempts_of(run: Execution, first: datetime, last: datetime, now: datetime) -> list[AttemptRow]:
    """The run's attempts, on a timeline from first to last."""
    return [
        AttemptRow(attempt, time_bar(attempt.started_at, attempt.ended_at or now, first, last))
        for attempt in all_attempts(run)
    ]


def executions_of(job: Job) -> QuerySet[Execution]:
    """The job's runs, oldest first, with their attempts."""
    return job.executions.order_by("created_at", "id").prefetch_related("attempts")


def all_attempts(run: Execution) -> list[Attempt]:
    """The run's attempts with the current one, whose row is written when it ends."""
    attempts = list(run.attempts.all())
    if run.status == ExecutionStatus.RUNNING and run.attempt_started_at and run.timeout_at:
        attempts.append(
            Attempt(
                number=run.attempt,
                started_at=run.attempt_started_at,
                timeout_at=run.timeout_at,
                worker=run.worker,
                session_id=run.session_id,
                traceback="",
            )
        )
    return attempts


def known_roles() -> list[str]:
    """The roles of every installation, then others: of registered Tasks and of workers."""
    served = (role for roles in Worker.objects.values_list("roles", flat=True) for role in roles)
    others = {*served, *(task.role for task in catalogue.all_tasks())} - {*settings.DURE_ROLES}
    return [*settings.DURE_ROLES, *sorted(role for role in others if is_role(role))]


def parents_of(job: Job) -> list[Job]:
    return _neighbours(job, "edges_out__job")


def children_of(job: Job) -> list[Job]:
    return _neighbours(job, "edges_in__parent")


def _neighbours(job: Job, through: str) -> list[Job]:
    jobs = Job.objects.filter(**{through: job}).select_related("execution")
    jobs = jobs.defer("args", "execution__args", "execution__result", "execution__error")
    return list(jobs.order_by("seq")[:MOST_NEIGHBOURS])


def events_of(job: Job) -> list[Event]:
    """The job's newest events, newest first."""
    events = Event.objects.filter(office_id=job.office_id)
    oldest = events.order_by("-id").values_list("id", flat=True)[EVENTS_SEARCHED - 1 :][:1]
    since = next(iter(oldest), 0)
    return list(events.filter(id__gte=since, job_id=job.pk).order_by("-id")[:MOST_EVENTS])


def client_events_after(office_id: UUID, after: int, limit: int) -> QuerySet[Event]:
    """The office's events that clients receive, from the first after this one."""
    events = Event.objects.filter(office_id=office_id, id__gt=after, type__in=CLIENT_EVENTS)
    return events.order_by("id")[:limit]


def newest_event(office: Office) -> int:
    """The id of the office's newest event. A page that reads it first misses no later one."""
    events = Event.objects.filter(office_id=office.pk).order_by("-id")
    return events.values_list("id", flat=True).first() or 0


@dataclass(frozen=True)
class Output:
    """The output of a run's program, and the rest of the run's result."""

    tail: str
    cut: bool
    result: Any


def output_of(result: Any) -> Output | None:
    if not isinstance(result, dict) or not isinstance(result.get(OUTPUT_TAIL), str):
        return None
    text = printable(result[OUTPUT_TAIL])
    rest = {name: value for name, value in result.items() if name != OUTPUT_TAIL}
    return Output(text[-MOST_OUTPUT:], len(text) > MOST_OUTPUT, rest)
