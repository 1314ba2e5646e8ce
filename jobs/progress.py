"""How far a batch is: its counts, its graph, its critical path and when it will probably end."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count

from jobs import graph, stats
from jobs.models import Batch, Dependency, Job, Office
from jobs.outlook import outlook
from jobs.states import JOB_ENDED, JOB_LIVE, JobStatus

# Of a job that nobody knows anything of, when paths are compared.
UNKNOWN_SECONDS = 1.0


@dataclass(frozen=True)
class Node:
    """A job of a batch, as far as its graph shows it."""

    id: UUID
    ref: str
    task_id: str
    role: str
    status: str
    started_at: datetime | None
    completed_at: datetime | None


@dataclass(frozen=True)
class Path:
    jobs: Sequence[UUID]
    seconds: float


def counts_of(batches: Iterable[UUID]) -> dict[UUID, dict[str, int]]:
    """How many jobs of each batch are in which state."""
    found = {batch: {str(status): 0 for status in JobStatus} for batch in batches}
    rows = Job.objects.filter(batch_id__in=list(found)).order_by().values_list("batch_id", "status")
    for batch, status, number in rows.annotate(number=Count("id")):
        found[batch][status] = number
    return found


def percent(counts: Mapping[str, int]) -> float:
    """How much of it has ended, whichever way."""
    total = sum(counts.values())
    ended = sum(counts[status] for status in JOB_ENDED)
    # Rounded down: it is not 100 before all have ended.
    return int(1_000 * ended / total) / 10 if total else 0.0


def nodes_of(batch: Batch) -> list[Node]:
    jobs = Job.objects.filter(batch=batch).order_by("seq")
    rows = jobs.values_list(
        "id", "ref", "task_id", "role", "status", "started_at", "completed_at", "execution__started_at"
    )
    return [
        Node(number, ref, task_id, role, status, started_at or running_since, completed_at)
        for number, ref, task_id, role, status, started_at, completed_at, running_since in rows
    ]


def edges_of(batch: Batch) -> dict[UUID, list[UUID]]:
    """The dependencies of each job, as far as they are in the batch themselves."""
    parents: dict[UUID, list[UUID]] = defaultdict(list)
    edges = Dependency.objects.filter(job__batch=batch, parent__batch=batch).order_by("job__seq", "position")
    for child, parent in edges.values_list("job_id", "parent_id"):
        parents[child].append(parent)
    return parents


def critical_path(
    nodes: Sequence[Node], parents: Mapping[UUID, Sequence[UUID]], known: Mapping[str, float], now: datetime
) -> Path:
    """The chain that took, or will probably take, the longest."""
    weight = {node.id: seconds_of(node, known, now) for node in nodes}
    path = graph.longest_path({node.id: parents.get(node.id, ()) for node in nodes}, weight)
    return Path(path, sum(weight[number] for number in path))


def seconds_of(node: Node, known: Mapping[str, float], now: datetime) -> float:
    usual = known.get(node.task_id, UNKNOWN_SECONDS)
    if node.started_at is None:
        # It ended without having run, or has not started.
        return 0.0 if node.status in JOB_ENDED else usual
    took = ((node.completed_at or now) - node.started_at).total_seconds()
    return max(0.0, took) if node.completed_at else max(usual, took)


def usual_times(office: Office) -> dict[str, float]:
    return stats.run_times(office.id)


def estimated_end(office: Office, nodes: Sequence[Node], now: datetime) -> datetime | None:
    """When its last job will have ended. None when that cannot be told, or has happened."""
    live = [node.id for node in nodes if node.status in JOB_LIVE]
    if not live:
        return None
    times = outlook(office, now)
    ends = [times[number][1] if number in times else None for number in live]
    known = [end for end in ends if end is not None]
    return max(known) if len(known) == len(ends) else None
