"""The data of a queue's page: the position of the run, the status of each operation, and the errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.models import Execution, Worker
from jobs.states import Trigger
from scheduler.steps.models import Step, StepQueue
from scheduler.steps.pages import graph_drawing, labels
from scheduler.steps.pages.graph_drawing import Node, Operation
from scheduler.steps.pages.operation_status import (
    OperationStatus,
    Position,
    backward_status,
    forward_status,
    job_status,
)
from scheduler.steps.states import (
    EMPTY_ARGS,
    NO_OPERATION,
    QUEUE_NOT_RUNNING,
    UNINIT,
    Direction,
    QueueState,
    operation_source,
    rollback_failed,
)
from scheduler.steps.transitions import must_run_again

MAX_EVENTS = 60
# The graph shows this many jobs, since more would make the page slow.
WINDOW_SIZE = 60
# The columns of all jobs that the page needs, including jobs that it does not list.
JOB_COLUMNS = ("number", "job_id", "state", "forward_operation", "backward_operation")
FAILED = (OperationStatus.FAILED, OperationStatus.TIMED_OUT, OperationStatus.ROLLBACK_FAILED)

JSON = dict[str, Any]


@dataclass(frozen=True)
class Window:
    """The jobs that the page lists: those from `first` to `last`, of `total`."""

    first: int
    last: int
    total: int

    @property
    def is_all(self) -> bool:
        return self.last - self.first + 1 >= self.total

    @property
    def earlier(self) -> int | None:
        return max(1, self.first - WINDOW_SIZE) if self.first > 1 else None

    @property
    def later(self) -> int | None:
        return self.last + 1 if self.last < self.total else None

    @classmethod
    def around(cls, total: int, *, start: int | None, center: int) -> "Window":
        """The jobs from `start` on, or without it those around `center`."""
        if start is None:
            first = min(center - WINDOW_SIZE // 2, total - WINDOW_SIZE + 1)
        else:
            first = min(start, total)
        first = max(1, first)
        return cls(first, min(total, first + WINDOW_SIZE - 1), total)


@dataclass(frozen=True)
class OperationCell:
    """A job's forward or backward operation: what the graph shows, what it returned, and its Execution."""

    operation: Operation
    returned: Any
    error: str
    failure_type: str
    run: Execution | None


@dataclass(frozen=True)
class Row:
    step: Step
    cells: tuple[OperationCell, OperationCell]

    @property
    def has_arguments(self) -> bool:
        return bool(self.step.arguments != EMPTY_ARGS)


def queue_context(queue: StepQueue, start: int | None, now: datetime) -> JSON:
    running = queue.running_job != QUEUE_NOT_RUNNING
    position = Position(queue.running_job if running else "", queue.operation_direction)
    jobs = list(queue.steps.order_by("number").values_list(*JOB_COLUMNS))
    current = _current_node(queue, jobs)
    return_lines = queue.queue_return if isinstance(queue.queue_return, list) else []
    center = current[0] if current else _last_forward(return_lines)
    window = Window.around(queue.job_number, start=start, center=center)
    rows = _rows(queue, window, position)
    pairs = [(row.cells[0].operation, row.cells[1].operation) for row in rows]
    taken = graph_drawing.taken_edges(return_lines, None if queue.again else current)
    statuses = [
        job_status(str(job_id), state, forward, backward, position)
        for _, job_id, state, forward, backward in jobs
    ]
    return {
        "now": now,
        "queue": queue,
        "label": labels.queue_label(queue, failed=any(rollback_failed(state) for _, _, state, *_ in jobs)),
        "can": _possible_actions(queue, jobs, running=running),
        "current": _current_run(queue) if running else None,
        "window": window,
        "rows": rows,
        "drawing": graph_drawing.draw(pairs, taken) if rows else None,
        # The position to which the page scrolls a graph that is wider than the page.
        "start": f"box-{current[1]}-{current[0]}" if current else "",
        "strip": graph_drawing.status_strip(statuses) if not window.is_all else None,
        "counts": [
            (labels.OPERATION_LABELS[status], statuses.count(status))
            for status in OperationStatus
            if status in statuses
        ],
        "events": list(queue.events.order_by("-id")[:MAX_EVENTS]),
    }


def _possible_actions(queue: StepQueue, jobs: Sequence[Sequence[Any]], *, running: bool) -> dict[str, bool]:
    return {
        "run": queue.state == QueueState.READY,
        "resume": not running
        and queue.operation_direction == Direction.BACKWARD
        and any(must_run_again(state, backward) for _, _, state, _, backward in jobs),
        "cancel": queue.is_cancellable,
        "delete": not running,
    }


def _current_node(queue: StepQueue, jobs: Sequence[Sequence[Any]]) -> Node | None:
    """The operation that runs now."""
    number = next((number for number, job_id, *_ in jobs if str(job_id) == queue.running_job), None)
    return None if number is None else (number, queue.operation_direction)


def _last_forward(return_lines: Sequence[Mapping[str, Any]]) -> int:
    """The number of the last job that ran forward."""
    return max((line["number"] for line in return_lines if line["direction"] == Direction.FORWARD), default=1)


def _rows(queue: StepQueue, window: Window, position: Position) -> list[Row]:
    steps = list(queue.steps.filter(number__range=(window.first, window.last)).order_by("number"))
    runs = _runs_by_source(queue, steps)
    return [
        Row(
            step,
            (_cell(step, Direction.FORWARD, position, runs), _cell(step, Direction.BACKWARD, position, runs)),
        )
        for step in steps
    ]


def _cell(step: Step, direction: str, position: Position, runs: Mapping[str, Execution]) -> OperationCell:
    forward = direction == Direction.FORWARD
    name = step.forward_operation if forward else step.backward_operation
    status = (forward_status if forward else backward_status)(str(step.job_id), step.state, name, position)
    operation = Operation(step.position, direction, name, status)
    returned = step.job_return.get(direction.lower()) if isinstance(step.job_return, dict) else None
    if returned in (UNINIT, NO_OPERATION):
        returned = None
    run = runs.get(operation_source(step.queue_id, step.job_id, direction))
    if status in FAILED and isinstance(returned, dict):
        return OperationCell(
            operation, None, returned.get("error", ""), returned.get("failure_type", ""), run
        )
    return OperationCell(operation, returned, "", "", run)


def _runs_by_source(queue: StepQueue, steps: Sequence[Step]) -> dict[str, Execution]:
    """The newest Execution of each operation within this run of the queue."""
    if queue.started_at is None:
        return {}
    sources = [
        operation_source(step.queue_id, step.job_id, direction) for step in steps for direction in Direction
    ]
    runs = Execution.objects.filter(
        trigger=Trigger.STEP, source__in=sources, created_at__gte=queue.started_at
    ).defer("args", "result")
    return {run.source: run for run in runs.order_by("created_at", "id")}


def _current_run(queue: StepQueue) -> JSON | None:
    """The Execution of the current operation, and its worker."""
    run = Execution.objects.filter(pk=queue.execution_id).first() if queue.execution_id else None
    if run is None:
        return None
    return {"run": run, "worker": Worker.objects.filter(name=run.worker).first() if run.worker else None}
