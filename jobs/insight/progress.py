"""How far a batch is: its counts, its graph, its critical path and when it will probably end."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count

from jobs import graph
from jobs.insight.outlook import outlook
from jobs.models import Batch, Job, Office
from jobs.sql import call, reports
from jobs.states import JOB_ENDED, JOB_LIVE, JobStatus

# Of a job that nobody knows anything of, when paths are compared.
UNKNOWN_SECONDS = 1.0


@dataclass(frozen=True)
class Node:
    """A job of a batch, as far as its graph shows it."""

    id: str
    ref: str
    task_id: str
    role: str
    status: str
    started_at: datetime | None
    completed_at: datetime | None


@dataclass(frozen=True)
class Path:
    jobs: Sequence[str]
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
    return [Node(*row) for row in call.rows(reports.NODES_OF_BATCH, {"batch": batch.id})]


def edges_of(batch: Batch, nodes: Sequence[Node]) -> dict[str, list[str]]:
    """The dependencies of each job, as far as they are in the batch themselves."""
    found = dict(call.rows(reports.PARENTS_OF_BATCH, {"batch": batch.id}))
    inside = {node.id for node in nodes}
    return {
        node.id: [parent for parent in found.get(node.id, "").split() if parent in inside] for node in nodes
    }


def critical_path(
    nodes: Sequence[Node], parents: Mapping[str, Sequence[str]], known: Mapping[str, float], now: datetime
) -> Path:
    """The chain that took, or will probably take, the longest."""
    weight = {node.id: seconds_of(node, known, now) for node in nodes}
    path = graph.longest_path(parents, weight)
    return Path(path, sum(weight[number] for number in path))


def seconds_of(node: Node, known: Mapping[str, float], now: datetime) -> float:
    usual = known.get(node.task_id, UNKNOWN_SECONDS)
    if node.started_at is None:
        # It ended without having run, or has not started.
        return 0.0 if node.status in JOB_ENDED else usual
    took = ((node.completed_at or now) - node.started_at).total_seconds()
    return max(0.0, took) if node.completed_at else max(usual, took)


def estimated_end(office: Office, nodes: Sequence[Node], now: datetime) -> datetime | None:
    """When its last job will have ended. None when that cannot be told, or has happened."""
    live = [node.id for node in nodes if node.status in JOB_LIVE]
    if not live:
        return None
    times = outlook(office, now)
    ends = [times[number][1] if number in times else None for number in live]
    known = [end for end in ends if end is not None]
    return max(known) if len(known) == len(ends) else None
