"""The layout of a step queue's graph: forward operations above, left to right; backward ones below."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from jobs.display import Label
from jobs.pages.graph_drawing import BOX_HEIGHT, BOX_WIDTH, MARGIN, shorten
from scheduler.steps.pages.labels import OPERATION_LABELS
from scheduler.steps.pages.operation_status import OperationStatus
from scheduler.steps.states import NO_OPERATION, Direction

GAP_X, GAP_Y = 36, 46
FORWARD_Y = MARGIN
BACKWARD_Y = MARGIN + BOX_HEIGHT + GAP_Y
HEIGHT = BACKWARD_Y + BOX_HEIGHT + MARGIN
# The length of an arrow's head; it is half as wide.
ARROWHEAD = 7
STRIP_WIDTH = 1000

# A node of the graph: a job's number, and the direction of one of its two operations.
Node = tuple[int, str]
Edge = tuple[Node, Node]


@dataclass(frozen=True)
class Operation:
    """One of a job's two operations, as the page shows it."""

    number: int
    direction: str
    name: str
    status: OperationStatus

    @property
    def label(self) -> Label:
        return OPERATION_LABELS[self.status]


@dataclass(frozen=True)
class Box:
    operation: Operation
    x: int
    y: int
    text: str


@dataclass(frozen=True)
class Line:
    path: str
    head: str
    taken: bool


@dataclass(frozen=True)
class Drawing:
    width: int
    height: int
    boxes: Sequence[Box]
    lines: Sequence[Line]


@dataclass(frozen=True)
class Segment:
    """Neighbouring jobs of the same status, in thousandths of the strip."""

    x: int
    width: int
    status: OperationStatus

    @property
    def label(self) -> Label:
        return OPERATION_LABELS[self.status]


def taken_edges(return_lines: Sequence[Mapping[str, Any]], current: Node | None) -> set[Edge]:
    """The edges that the run has taken, from its return message and its current node."""
    nodes: list[Node] = [(line["number"], line["direction"]) for line in return_lines]
    nodes += [current] if current is not None else []
    # A rollback that was retried by hand does not follow the line before it.
    return {(start, end) for start, end in pairwise(nodes) if abs(start[0] - end[0]) <= 1}


def draw(operations: Sequence[tuple[Operation, Operation]], taken: Collection[Edge]) -> Drawing:
    """`operations` holds each job's forward and backward operation, in the order of the queue."""
    columns = {forward.number: column for column, (forward, _) in enumerate(operations)}
    boxes = [_box(operation, columns) for pair in operations for operation in pair]
    edges = [*straight_edges(columns), *(edge for edge in taken if changes_direction(edge))]
    lines = [
        Line(*arrow(edge, columns), edge in taken)
        for edge in edges
        if all(number in columns for number, _ in edge)
    ]
    width = 2 * MARGIN + max(0, len(operations) * (BOX_WIDTH + GAP_X) - GAP_X)
    return Drawing(width, HEIGHT, boxes, sorted(lines, key=lambda line: line.taken))


def straight_edges(numbers: Iterable[int]) -> list[Edge]:
    """The edges between neighbours in both directions, taken or not."""
    edges: list[Edge] = []
    for left, right in pairwise(numbers):
        edges.append(((left, Direction.FORWARD), (right, Direction.FORWARD)))
        edges.append(((right, Direction.BACKWARD), (left, Direction.BACKWARD)))
    return edges


def changes_direction(edge: Edge) -> bool:
    """Whether the run changes from forward to backward here."""
    (_, before), (_, after) = edge
    return before == Direction.FORWARD and after == Direction.BACKWARD


def _box(operation: Operation, columns: Mapping[int, int]) -> Box:
    y = FORWARD_Y if operation.direction == Direction.FORWARD else BACKWARD_Y
    text = "–" if operation.name == NO_OPERATION else shorten(operation.name)
    return Box(operation, _left_edge(operation.number, columns), y, text)


def _left_edge(number: int, columns: Mapping[int, int]) -> int:
    return MARGIN + columns[number] * (BOX_WIDTH + GAP_X)


def arrow(edge: Edge, columns: Mapping[int, int]) -> tuple[str, str]:
    """The SVG paths of the edge's line and of its head."""
    left, right = (_left_edge(number, columns) for number, _ in edge)
    half = ARROWHEAD // 2 + 1
    if changes_direction(edge):
        # From a job without a library, which has nothing to roll back, to the job before it.
        x1, x2 = left + BOX_WIDTH // 2, right + BOX_WIDTH // 2
        y1, y2 = FORWARD_Y + BOX_HEIGHT, BACKWARD_Y
        return f"M{x1} {y1}L{x2} {y2 - ARROWHEAD}", f"M{x2} {y2}l{-half} {-ARROWHEAD}h{ARROWHEAD + 1}z"
    if edge[0][1] == Direction.FORWARD:
        x1, x2, y, back = left + BOX_WIDTH, right, FORWARD_Y + BOX_HEIGHT // 2, -ARROWHEAD
    else:
        x1, x2, y, back = left, right + BOX_WIDTH, BACKWARD_Y + BOX_HEIGHT // 2, ARROWHEAD
    return f"M{x1} {y}H{x2 + back}", f"M{x2} {y}l{back} {-half}v{ARROWHEAD + 1}z"


def status_strip(statuses: Sequence[OperationStatus]) -> list[Segment]:
    """The whole queue as one bar, however long it is."""
    segments, before = [], 0
    for status, same in groupby(statuses):
        after = before + len(list(same))
        x, end = (round(STRIP_WIDTH * position / len(statuses)) for position in (before, after))
        segments.append(Segment(x, end - x, status))
        before = after
    return segments
