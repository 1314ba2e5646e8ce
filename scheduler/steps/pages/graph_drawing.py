"""Where the boxes and lines of a walk stand: forward above, from left to right; backward below, and back."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from jobs.pages.graph_drawing import BOX_HEIGHT, BOX_WIDTH, MARGIN, shortened
from scheduler.steps.pages.marks import Mark
from scheduler.steps.states import NO_OPERATION, Direction

GAP_X, GAP_Y = 36, 46
RADIUS = 7
FORWARD_Y = MARGIN
BACKWARD_Y = MARGIN + BOX_HEIGHT + GAP_Y
HEIGHT = BACKWARD_Y + BOX_HEIGHT + MARGIN
# The head of an arrow: how long, and half as wide.
HEAD = 7
STRIP_WIDTH = 1000

# A place in the walk: a job's number, and which of its two operations.
Place = tuple[int, str]


@dataclass(frozen=True)
class Operation:
    """One of a job's two operations, as it is drawn."""

    number: int
    direction: str
    name: str
    mark: Mark


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
    walked: bool


@dataclass(frozen=True)
class Drawing:
    width: int
    height: int
    boxes: Sequence[Box]
    lines: Sequence[Line]


@dataclass(frozen=True)
class Piece:
    """Neighbours that stand alike, in thousandths of the whole."""

    x: int
    width: int
    mark: Mark


def steps_of(lines: Sequence[Mapping[str, Any]], at: Place | None) -> set[tuple[Place, Place]]:
    """From where to where the walk went, by its return message; `at` is where it is now."""
    places: list[Place] = [(line["number"], line["direction"]) for line in lines]
    places += [at] if at is not None else []
    # What was run again by hand is no step of the way.
    return {(start, end) for start, end in pairwise(places) if abs(start[0] - end[0]) <= 1}


def draw(
    operations: Sequence[tuple[Operation, Operation]], steps: Collection[tuple[Place, Place]]
) -> Drawing:
    """`operations`: each job's forward and backward one, in the order of the queue."""
    spot = {one.number: x for x, (one, _) in enumerate(operations)}
    boxes = [Box(one, *corner(one, spot), text(one.name)) for both in operations for one in both]
    wanted = [*rails(spot), *((start, end) for start, end in steps if turns(start, end))]
    lines = [
        Line(*arrow(start, end, spot), (start, end) in steps)
        for start, end in wanted
        if start[0] in spot and end[0] in spot
    ]
    width = 2 * MARGIN + max(0, len(operations) * (BOX_WIDTH + GAP_X) - GAP_X)
    return Drawing(width, HEIGHT, boxes, sorted(lines, key=lambda line: line.walked))


def rails(numbers: Iterable[int]) -> list[tuple[Place, Place]]:
    """The whole way, walked or not."""
    found: list[tuple[Place, Place]] = []
    for left, right in pairwise(numbers):
        found.append(((left, Direction.FORWARD), (right, Direction.FORWARD)))
        found.append(((right, Direction.BACKWARD), (left, Direction.BACKWARD)))
    return found


def turns(start: Place, end: Place) -> bool:
    return start[1] == Direction.FORWARD and end[1] == Direction.BACKWARD


def corner(one: Operation, spot: Mapping[int, int]) -> tuple[int, int]:
    x = MARGIN + spot[one.number] * (BOX_WIDTH + GAP_X)
    return x, FORWARD_Y if one.direction == Direction.FORWARD else BACKWARD_Y


def arrow(start: Place, end: Place, spot: Mapping[int, int]) -> tuple[str, str]:
    """Its line and its head."""
    left, right = (MARGIN + spot[place[0]] * (BOX_WIDTH + GAP_X) for place in (start, end))
    if turns(start, end):
        # Down; a job that has no library has nothing to undo, so the way goes to the one before it.
        x1, x2 = left + BOX_WIDTH // 2, right + BOX_WIDTH // 2
        y1, y2 = FORWARD_Y + BOX_HEIGHT, BACKWARD_Y
        return f"M{x1} {y1}L{x2} {y2 - HEAD}", f"M{x2} {y2}l{-HEAD // 2 - 1} {-HEAD}h{HEAD + 1}z"
    if start[1] == Direction.FORWARD:
        x1, x2, y = left + BOX_WIDTH, right, FORWARD_Y + BOX_HEIGHT // 2
        return f"M{x1} {y}H{x2 - HEAD}", f"M{x2} {y}l{-HEAD} {-HEAD // 2 - 1}v{HEAD + 1}z"
    x1, x2, y = left, right + BOX_WIDTH, BACKWARD_Y + BOX_HEIGHT // 2
    return f"M{x1} {y}H{x2 + HEAD}", f"M{x2} {y}l{HEAD} {-HEAD // 2 - 1}v{HEAD + 1}z"


def text(name: str) -> str:
    return "–" if name == NO_OPERATION else shortened(name)


def strip(marks: Sequence[Mark]) -> list[Piece]:
    """The whole queue as one bar, however long it is."""
    found, place = [], 0
    for mark, alike in groupby(marks):
        number = len(list(alike))
        x = round(STRIP_WIDTH * place / len(marks))
        place += number
        found.append(Piece(x, round(STRIP_WIDTH * place / len(marks)) - x, mark))
    return found
