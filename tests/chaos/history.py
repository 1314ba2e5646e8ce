"""The recorded history: events in the order of their commits, the final rows, and the witness file."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any


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


@dataclass
class History:
    limits: dict[str, tuple[int, dict[str, int]]]
    jobs: dict[str, JobAtTheEnd]
    events: list[Happening]
    attempts: dict[str, list[tuple[int, str, str]]]  # by Execution: number, outcome, failure type
    starts: dict[str, list[tuple[int, float]]] = field(default_factory=dict)  # by Execution: fence, time
    sampled_excess: list[str] = field(default_factory=list)

    def events_of(self) -> dict[str, list[Happening]]:
        events: dict[str, list[Happening]] = defaultdict(list)
        for event in self.events:
            events[event.job].append(event)
        return events


def read(witness: Path) -> History:
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
        )
        for job in Job.objects.select_related("execution")
    }
    attempts: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for attempt in Attempt.objects.order_by("number"):
        tried = (attempt.number, attempt.outcome, attempt.failure_type)
        attempts[str(attempt.execution_id)].append(tried)
    events = [
        Happening(event.id, str(event.office_id), str(event.job_id), event.type, event.details, event.at)
        for event in Event.objects.filter(job_id__isnull=False).order_by("id")
    ]
    limits = {
        str(office.id): (office.max_concurrent_jobs, office.max_concurrent_by_role)
        for office in Office.objects.all()
    }
    return History(limits, jobs, events, attempts, starts_in(witness))


def starts_in(witness: Path) -> dict[str, list[tuple[int, float]]]:
    starts: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for line in witness.read_text().splitlines() if witness.exists() else []:
        what, execution, fence, _, _, at = line.split()
        if what == "start":
            starts[execution].append((int(fence), float(at)))
    return starts
