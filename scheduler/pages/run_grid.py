"""Runs of a workflow as a grid: a column for each run, a row for each step."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from jobs.models import Job
from jobs.states import JobStatus
from scheduler.models import WorkflowRun
from scheduler.pages.steps_graph import Step

# Of a workflow with more steps these are in the grid: those that failed, then the first ones.
MOST_STEPS = 50


@dataclass(frozen=True)
class Row:
    """A step, and its job in each run; None where the run has none."""

    name: str
    jobs: Sequence[Job | None]


@dataclass(frozen=True)
class Grid:
    runs: Sequence[WorkflowRun]
    rows: Sequence[Row]
    # How many steps are left out.
    beyond: int


def grid_of(runs: Sequence[WorkflowRun], steps: Sequence[Step]) -> Grid | None:
    """The grid of these runs; None without a job. `steps` are those of the workflow now."""
    batches = [run.batch_id for run in runs if run.batch_id]
    jobs = Job.objects.filter(batch__in=batches).select_related("execution").order_by("seq")
    jobs = jobs.only("id", "ref", "task_id", "status", "batch_id", "office_id", "execution__status")
    names = [step.node.ref for step in steps]
    if len(steps) > MOST_STEPS:
        failed = set(jobs.filter(status=JobStatus.FAILED).values_list("ref", flat=True))
        names = sorted(names, key=lambda name: name not in failed)[:MOST_STEPS]
        jobs = jobs.filter(ref__in=names)
    cells = _cells(jobs)
    if not cells:
        return None
    # Steps of an older version come last.
    places = {step.node.ref: place for place, step in enumerate(steps) if step.node.ref}
    keys = sorted(cells, key=lambda key: places.get(key[0], len(steps)))
    rows = [_row(key, cells[key], runs) for key in keys]
    return Grid(runs, rows, max(0, len(steps) - MOST_STEPS))


def _cells(jobs: Iterable[Job]) -> dict[tuple[str, int], dict[UUID | None, Job]]:
    """The jobs of each step by batch. Steps without a name are told apart by their order."""
    cells: dict[tuple[str, int], dict[UUID | None, Job]] = {}
    unnamed = Counter[UUID | None]()
    for job in jobs:
        unnamed[job.batch_id] += not job.ref
        key = (job.ref, 0 if job.ref else unnamed[job.batch_id])
        cells.setdefault(key, {})[job.batch_id] = job
    return cells


def _row(key: tuple[str, int], jobs: dict[UUID | None, Job], runs: Sequence[WorkflowRun]) -> Row:
    last = next(reversed(jobs.values()))
    return Row(key[0] or last.task_id, [jobs.get(run.batch_id) for run in runs])
