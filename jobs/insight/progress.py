"""The progress of a batch: its counts, its graph, its critical path and its estimated end."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count

from jobs import graph
from jobs.insight.forecast import estimated_times
from jobs.models import Batch, Job, Office
from jobs.sql import call, reports
from jobs.states import JOB_ENDED, JOB_LIVE, ExecutionStatus, JobStatus

# The weight of a job of unknown length when paths are compared.
UNKNOWN_SECONDS = 1.0


def effective_state(status: str, *, claimed: bool) -> str:
    """The state as people see it: a job that was sent and that no worker has claimed is queued."""
    return JobStatus.READY if status == JobStatus.PROCESSING and not claimed else status


@dataclass(frozen=True)
class Node:
    """A job in the graph of a batch."""

    id: str
    ref: str
    task_id: str
    role: str
    status: str
    started_at: datetime | None
    completed_at: datetime | None
    failure_type: str = ""
    error: str = ""
    # Whether a worker has claimed its run.
    claimed: bool = True
    # Of its latest run.
    attempts: int = 0

    @property
    def state(self) -> str:
        return effective_state(self.status, claimed=self.claimed)


@dataclass(frozen=True)
class Progress:
    """The jobs of a batch, counted by state."""

    by_status: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.by_status.values())

    @property
    def percent(self) -> float:
        """The percentage of jobs that have ended, in any state."""
        ended = sum(self.by_status[status] for status in JOB_ENDED)
        # Rounded down, so that it is 100 only when all have ended.
        return int(1_000 * ended / self.total) / 10 if self.total else 0.0

    @property
    def state(self) -> JobStatus:
        return state_of(self.by_status)


@dataclass(frozen=True)
class Path:
    jobs: Sequence[str]
    seconds: float


def progress_of(batches: Iterable[UUID]) -> dict[UUID, Progress]:
    """The progress of each batch."""
    by_batch = {batch: Progress({str(status): 0 for status in JobStatus}) for batch in batches}
    rows = Job.objects.filter(batch_id__in=list(by_batch)).order_by().values_list("batch_id", "status")
    for batch, status, number in rows.annotate(number=Count("id")):
        by_batch[batch].by_status[status] = number
    return by_batch


def effective_progress_of(batches: Iterable[UUID]) -> dict[UUID, Progress]:
    """The same by the states that people see."""
    by_batch = progress_of(batches)
    unclaimed = Job.objects.filter(
        batch_id__in=list(by_batch), status=JobStatus.PROCESSING, execution__status=ExecutionStatus.PENDING
    )
    for batch, number in unclaimed.order_by().values_list("batch_id").annotate(number=Count("id")):
        by_batch[batch].by_status[JobStatus.PROCESSING] -= number
        by_batch[batch].by_status[JobStatus.READY] += number
    return by_batch


def state_of(counts: Mapping[str, int]) -> JobStatus:
    """The state of a batch: that of its most advanced live jobs, and once all have ended, of the worst."""
    live_first = (
        JobStatus.PROCESSING,
        JobStatus.READY,
        JobStatus.TIMEOUT,
        JobStatus.PENDING,
        JobStatus.FAILED,
        JobStatus.CANCELLED,
    )
    return next((status for status in live_first if counts.get(status)), JobStatus.DONE)


def nodes_of(batch: Batch) -> list[Node]:
    return [Node(*row) for row in call.rows(reports.NODES_OF_BATCH, {"batch": batch.id})]


def edges_of(batch: Batch, nodes: Sequence[Node]) -> dict[str, list[str]]:
    """The parents of each job that are in the batch themselves."""
    parents = dict(call.rows(reports.PARENTS_OF_BATCH, {"batch": batch.id}))
    inside = {node.id for node in nodes}
    return {
        node.id: [parent for parent in parents.get(node.id, "").split() if parent in inside] for node in nodes
    }


def critical_path(
    nodes: Sequence[Node], parents: Mapping[str, Sequence[str]], usual: Mapping[str, float], now: datetime
) -> Path:
    """The chain that took, or will probably take, the longest."""
    weight = {node.id: seconds_of(node, usual, now) for node in nodes}
    path = graph.longest_path(parents, weight)
    return Path(path, sum(weight[job] for job in path))


def seconds_of(node: Node, usual: Mapping[str, float], now: datetime) -> float:
    expected = usual.get(node.task_id, UNKNOWN_SECONDS)
    if node.started_at is None:
        # The job ended without a run, or has not started.
        return 0.0 if node.status in JOB_ENDED else expected
    took = ((node.completed_at or now) - node.started_at).total_seconds()
    return max(0.0, took) if node.completed_at else max(expected, took)


def estimated_end(office: Office, nodes: Sequence[Node], now: datetime) -> datetime | None:
    """The end of its last job; None if that is not known, or in the past."""
    live = [node.id for node in nodes if node.status in JOB_LIVE]
    if not live:
        return None
    times = estimated_times(office, now)
    ends = [times[job][1] for job in live if job in times]
    known_ends = [end for end in ends if end is not None]
    return max(known_ends) if len(known_ends) == len(live) else None
