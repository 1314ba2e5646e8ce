"""The recorded history: events in the order of their commits, the final rows, and the witness file."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from jobs.states import EventType, JobStatus, Outcome
from tests.chaos import witness
from tests.chaos.bodies import LIMITED
from tests.chaos.recovery import Recovery

# The events that end a run.
ENDS = (EventType.JOB_COMPLETED, EventType.JOB_FAILED, EventType.JOB_CANCELLED, EventType.JOB_RETRYING)


@dataclass
class Happening:
    """One event of an office, in the order in which its transaction committed."""

    id: int
    office: str
    job: str
    type: str
    details: dict[str, Any]
    at: datetime

    @property
    def fence(self) -> int | None:
        return self.details.get("fence")


@dataclass
class JobAtTheEnd:
    id: str
    office: str
    role: str
    status: str
    policy: str
    max_retries: int
    retry_count: int
    parents: list[str]
    result: Any
    cancelled_at: datetime | None
    failure_type: str
    explained: list[str] = field(default_factory=list)  # the codes of `explain`, of a job that waits


@dataclass
class AttemptMade:
    """One attempt of an Execution."""

    number: int
    outcome: str
    worker: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None


@dataclass
class RunAtTheEnd:
    """An Execution. `owner` is its office, or the user whose run belongs to none."""

    task: str
    owner: str
    job: str | None
    status: str


@dataclass
class History:
    limits: dict[str, tuple[int, dict[str, int]]]
    jobs: dict[str, JobAtTheEnd]
    events: list[Happening]
    attempts: dict[str, list[AttemptMade]]  # by Execution
    starts: dict[str, list[tuple[int, float]]] = field(default_factory=dict)  # by Execution: fence, time
    ends: dict[str, list[tuple[int, float]]] = field(default_factory=dict)  # of bodies that succeeded
    runs: dict[str, RunAtTheEnd] = field(default_factory=dict)  # by Execution
    most_held: int = 0
    sampled_excess: list[str] = field(default_factory=list)
    surviving_programs: list[str] = field(default_factory=list)
    recovery: Recovery = field(default_factory=Recovery)

    def events_of(self) -> dict[str, list[Happening]]:
        events: dict[str, list[Happening]] = defaultdict(list)
        for event in self.events:
            events[event.job].append(event)
        return events

    def runs_of(self, task: str) -> dict[str, RunAtTheEnd]:
        return {execution: run for execution, run in self.runs.items() if run.task == task}

    def restarts(self) -> Iterator[tuple[str, int, float, float]]:
        """The restarts of runs whose worker died: Execution, attempt, seconds that count, seconds.

        A rate limit may let a run wait for longer.
        """
        starts = {
            (event.details["execution_id"], event.details.get("attempt")): event.at
            for event in self.events
            if event.type == EventType.JOB_STARTED
        }
        limited = self.runs_of(LIMITED)
        for execution, attempts in self.attempts.items():
            for attempt in attempts if execution not in limited else ():
                again = starts.get((execution, attempt.number + 1))
                if attempt.outcome != Outcome.LOST or not (again and attempt.started_at and attempt.ended_at):
                    continue
                had_it = (attempt.started_at.timestamp(), attempt.ended_at.timestamp())
                lost = self.recovery.loss_of(attempt.worker, *had_it)
                if lost is not None:
                    until = again.timestamp()
                    yield execution, attempt.number, self.recovery.seconds(lost, until), until - lost


def read(path: Path) -> History:
    from django.utils import timezone

    from jobs.insight.explain import reasons_of
    from jobs.models import Attempt, Dependency, Event, Job, Office

    parents: dict[str, list[str]] = defaultdict(list)
    for child, parent in Dependency.objects.values_list("job_id", "parent_id"):
        parents[str(child)].append(str(parent))
    jobs = {
        str(job.id): JobAtTheEnd(
            str(job.id),
            str(job.office_id),
            job.role,
            job.status,
            job.on_dependency_failure,
            job.max_retries,
            job.retry_count,
            parents[str(job.id)],
            job.execution.result if job.execution else None,
            job.cancelled_at,
            job.failure_type,
            [reason.code for reason in reasons_of(job.office, job, timezone.now())]
            if job.status == JobStatus.PENDING
            else [],
        )
        for job in Job.objects.select_related("execution", "office")
    }
    attempts: dict[str, list[AttemptMade]] = defaultdict(list)
    for tried in Attempt.objects.order_by("number"):
        attempts[str(tried.execution_id)].append(
            AttemptMade(tried.number, tried.outcome, tried.worker, tried.started_at, tried.ended_at)
        )
    events = [
        Happening(event.id, str(event.office_id), str(event.job_id), event.type, event.details, event.at)
        for event in Event.objects.filter(job_id__isnull=False).order_by("id")
    ]
    limits = {
        str(office.id): (office.max_concurrent_jobs, office.max_concurrent_by_role)
        for office in Office.objects.all()
    }
    lines = witness.read(path)
    return History(
        limits,
        jobs,
        events,
        attempts,
        by_execution(lines, "start"),
        by_execution(lines, "end"),
        runs_at_the_end(),
    )


def runs_at_the_end() -> dict[str, RunAtTheEnd]:
    from jobs.models import Execution
    from jobs.states import Trigger
    from scheduler.models import Schedule

    owners = {str(schedule.id): str(schedule.owner_id) for schedule in Schedule.objects.all()}
    return {
        str(run.id): RunAtTheEnd(
            run.task_id,
            str(run.office_id) if run.office_id else owners.get(run.source, run.source),
            str(run.job_id) if run.job_id else None,
            run.status,
        )
        for run in Execution.objects.exclude(trigger__in=(Trigger.STEP, Trigger.EXPORT))
    }


def by_execution(lines: list[witness.Line], what: str) -> dict[str, list[tuple[int, float]]]:
    """The fences and times of these lines."""
    result: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for line in lines:
        if line.what == what:
            result[line.execution].append((line.fence, line.at))
    return result
