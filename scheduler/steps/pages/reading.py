"""What the page of a queue shows: where its walk stands, what was done, what undone, and what went wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.models import Execution, Worker
from jobs.states import Trigger
from scheduler.steps.models import Step, StepQueue
from scheduler.steps.pages import graph_drawing, labels, marks
from scheduler.steps.pages.graph_drawing import Operation, Place
from scheduler.steps.pages.marks import Mark, Standing
from scheduler.steps.pages.window import Window, window_of
from scheduler.steps.states import (
    EMPTY_ARGS,
    NO_OPERATION,
    QUEUE_NOT_RUNNING,
    UNINIT,
    Direction,
    QueueState,
    undo_failed,
)

EVENTS = 60
# What has to be known of every job, also of those that are not shown.
STATE = ("number", "job_id", "state", "forward_operation", "backward_operation")

JSON = dict[str, Any]


@dataclass(frozen=True)
class Half:
    """A job's forward or backward operation: what is drawn, what it returned, and the run of it."""

    operation: Operation
    returned: Any
    error: str
    failure_type: str
    run: Execution | None


@dataclass(frozen=True)
class Row:
    step: Step
    halves: tuple[Half, Half]
    arguments: Any
    # Its undo failed, so somebody may run it again.
    again: bool


def reading(queue: StepQueue, wanted: int | None, now: datetime) -> JSON:
    running = queue.running_job != QUEUE_NOT_RUNNING
    standing = Standing(queue.running_job if running else "", queue.operation_direction)
    states = list(queue.steps.order_by("number").values_list(*STATE))
    at = place_of(queue, states)
    lines = queue.queue_return if isinstance(queue.queue_return, list) else []
    window = window_of(queue.job_number, wanted=wanted, at=at[0] if at else turned_at(lines))
    rows = rows_of(queue, window, standing)
    pairs = [(row.halves[0].operation, row.halves[1].operation) for row in rows]
    steps = graph_drawing.steps_of(lines, None if queue.again else at)
    failed = any(undo_failed(state) for _, _, state, *_ in states)
    whole = [shown(row, standing) for row in states]
    return {
        "now": now,
        "queue": queue,
        "label": labels.standing(queue, undo_failed=failed),
        "can": {
            "run": queue.state == QueueState.READY,
            "cancel": running and not standing.turns_back and queue.cancel_requested_at is None,
            "rerun": queue.state == QueueState.READY,
            "delete": not running,
        },
        "current": current(queue) if running else None,
        "window": window,
        "rows": rows,
        "drawing": graph_drawing.draw(pairs, steps) if rows else None,
        # The box that is seen first, where not all are.
        "start": f"box-{at[1]}-{at[0]}" if at else "",
        "strip": graph_drawing.strip(whole) if not window.is_all else None,
        "counts": [(labels.MARKS[mark], whole.count(mark)) for mark in Mark if mark in whole],
        "events": list(queue.events.order_by("-id")[:EVENTS]),
    }


def place_of(queue: StepQueue, states: Sequence[Sequence[Any]]) -> Place | None:
    """Where the walk is now; None when it is nowhere."""
    number = next((number for number, job_id, *_ in states if str(job_id) == queue.running_job), None)
    return None if number is None else (number, queue.operation_direction)


def turned_at(lines: Sequence[Mapping[str, Any]]) -> int:
    """How far the walk came forward."""
    return max((line["number"] for line in lines if line["direction"] == Direction.FORWARD), default=1)


def shown(row: Sequence[Any], standing: Standing) -> Mark:
    """What one glance should tell of a job: how its undo stands, where there is one."""
    _, job_id, state, forward, backward = row
    back = marks.backward(str(job_id), state, backward, standing)
    return marks.forward(str(job_id), state, forward, standing) if back is Mark.NOT_NEEDED else back


def rows_of(queue: StepQueue, window: Window, standing: Standing) -> list[Row]:
    steps = list(queue.steps.filter(number__range=(window.first, window.last)).order_by("number"))
    runs = runs_of(queue, steps)
    return [
        Row(
            step,
            (half(step, Direction.FORWARD, standing, runs), half(step, Direction.BACKWARD, standing, runs)),
            None if step.arguments == EMPTY_ARGS else step.arguments,
            undo_failed(step.state) and step.backward_operation != NO_OPERATION,
        )
        for step in steps
    ]


def half(step: Step, direction: str, standing: Standing, runs: Mapping[str, Execution]) -> Half:
    forward = direction == Direction.FORWARD
    name = step.forward_operation if forward else step.backward_operation
    mark_of = marks.forward if forward else marks.backward
    operation = Operation(step.number, direction, name, mark_of(str(step.job_id), step.state, name, standing))
    returned = step.job_return.get(direction.lower()) if isinstance(step.job_return, dict) else None
    if returned in (UNINIT, NO_OPERATION):
        returned = None
    run = runs.get(source(step, direction))
    if operation.mark in (Mark.FAILED, Mark.TOO_LONG, Mark.UNDO_FAILED) and isinstance(returned, dict):
        return Half(operation, None, returned.get("error", ""), returned.get("failure_type", ""), run)
    return Half(operation, returned, "", "", run)


def runs_of(queue: StepQueue, steps: Sequence[Step]) -> dict[str, Execution]:
    """The newest Execution of each operation within this run of the queue."""
    if queue.started_at is None:
        return {}
    sources = [source(step, direction) for step in steps for direction in Direction]
    found = Execution.objects.filter(
        trigger=Trigger.STEP, source__in=sources, created_at__gte=queue.started_at
    ).defer("args", "result")
    return {run.source: run for run in found.order_by("created_at", "id")}


def source(step: Step, direction: str) -> str:
    """As walking.py names what causes an operation's Execution."""
    return f"{step.queue_id}:{step.job_id}:{direction}"


def current(queue: StepQueue) -> JSON | None:
    """The run that the walk waits for, and when its worker was last heard of."""
    run = Execution.objects.filter(pk=queue.execution_id).first() if queue.execution_id else None
    if run is None:
        return None
    return {"run": run, "heard": Worker.objects.filter(name=run.worker).first() if run.worker else None}
