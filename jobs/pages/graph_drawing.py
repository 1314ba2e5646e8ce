"""Where the boxes and lines of a batch's graph stand, and the bars of its times. Pure arithmetic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from jobs import graph
from jobs.insight.progress import Node

BOX_WIDTH, BOX_HEIGHT = 168, 40
GAP_X, GAP_Y = 64, 14
MARGIN = 12
LETTERS = 21
BARS_WIDTH = 1000
LARGE_WIDTH, LARGE_HEIGHT = 1000, 500
SWEEPS = 4
# Beyond, columns begin at the top: in the middle of a tall drawing nobody would find the first one.
MOST_CENTRED = 12


@dataclass(frozen=True)
class Box:
    node: Node
    x: int
    y: int
    text: str
    critical: bool

    @property
    def name(self) -> str:
        return self.node.ref or self.node.task_id

    @property
    def cut(self) -> bool:
        return self.text != self.name


@dataclass(frozen=True)
class Line:
    path: str
    critical: bool


@dataclass(frozen=True)
class Drawing:
    width: int
    height: int
    boxes: Sequence[Box]
    lines: Sequence[Line]

    @property
    def large(self) -> bool:
        """Does it need buttons to see all of it?"""
        return self.width > LARGE_WIDTH or self.height > LARGE_HEIGHT


@dataclass(frozen=True)
class Bar:
    """From `x` on, `width` of the thousandths of the whole time."""

    x: int
    width: int


def draw(nodes: Sequence[Node], parents: Mapping[str, Sequence[str]], path: Sequence[str]) -> Drawing:
    """Each job right of all it waits for; neighbours near each other, as far as a few sweeps find."""
    levels = graph.levels(parents)
    columns: list[list[str]] = [[] for _ in range(max(levels.values(), default=-1) + 1)]
    for node in nodes:
        columns[levels[node.id]].append(node.id)
    place = {
        one: (x, y) for x, column in enumerate(untangled(columns, parents)) for y, one in enumerate(column)
    }
    tallest = max((len(column) for column in columns), default=0)
    centred = tallest <= MOST_CENTRED
    corner = {
        one: (
            MARGIN + x * (BOX_WIDTH + GAP_X),
            MARGIN + (y * 2 + (tallest - len(columns[x])) * centred) * (BOX_HEIGHT + GAP_Y) // 2,
        )
        for one, (x, y) in place.items()
    }
    steps = set(pairwise(path))
    boxes = [
        Box(node, *corner[node.id], shortened(node.ref or node.task_id), node.id in path) for node in nodes
    ]
    lines = [
        Line(curve(corner[parent], corner[child]), (parent, child) in steps)
        for child, found in parents.items()
        for parent in found
    ]
    return Drawing(
        2 * MARGIN + max(0, len(columns) * (BOX_WIDTH + GAP_X) - GAP_X),
        2 * MARGIN + max(0, tallest * (BOX_HEIGHT + GAP_Y) - GAP_Y),
        boxes,
        sorted(lines, key=lambda line: line.critical),
    )


def untangled(columns: list[list[str]], parents: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Each column in the order of its neighbours' middles, back and forth: lines cross less."""
    children: dict[str, list[str]] = {one: [] for one in parents}
    for child, found in parents.items():
        for parent in found:
            children[parent].append(child)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        near = parents if forward else children
        for column in columns if forward else columns[::-1]:
            height = {one: y / max(1, len(other)) for other in columns for y, one in enumerate(other)}
            middle = {
                one: sum(height[other] for other in near[one]) / len(near[one]) if near[one] else height[one]
                for one in column
            }
            column.sort(key=lambda one: middle[one])
    return columns


def curve(start: tuple[int, int], end: tuple[int, int]) -> str:
    x1, y1 = start[0] + BOX_WIDTH, start[1] + BOX_HEIGHT // 2
    x2, y2 = end[0], end[1] + BOX_HEIGHT // 2
    bend = max(20, (x2 - x1) // 2)
    return f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"


def shortened(text: str) -> str:
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"


def bar(start: datetime | None, end: datetime | None, first: datetime, last: datetime) -> Bar | None:
    """A span of time as a part of the whole, never too thin to be seen."""
    whole = (last - first).total_seconds()
    if start is None or end is None or whole <= 0:
        return None
    x = round(BARS_WIDTH * (start - first).total_seconds() / whole)
    width = round(BARS_WIDTH * (end - start).total_seconds() / whole)
    x = min(max(0, x), BARS_WIDTH - 4)
    return Bar(x, max(4, min(width, BARS_WIDTH - x)))
