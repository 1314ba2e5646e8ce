"""The layout of a dependency graph: the positions of its boxes and lines. Pure functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from jobs import graph
from jobs.insight.progress import Node
from jobs.pages.graph_groups import Group
from jobs.pages.text_width import cut
from jobs.states import JobStatus

BOX_WIDTH, BOX_HEIGHT = 168, 40
GAP_X, GAP_Y = 64, 14
MARGIN = 12
TEXT_SIZE, DETAIL_SIZE = 12, 11
TEXT_ROOM = BOX_WIDTH - 20
LARGE_WIDTH, LARGE_HEIGHT = 1000, 500
SWEEPS = 4
# A larger drawing is no overview.
MOST_DRAWN = 600
# Columns of a taller drawing begin at the top, where readers look for the first box.
MOST_CENTRED = 12


@dataclass(frozen=True)
class Box:
    node: Node | Group
    x: int
    y: int
    critical: bool

    @property
    def name(self) -> str:
        node = self.node
        return node.key if isinstance(node, Group) else node.ref or node.task_id

    @property
    def text(self) -> str:
        return shorten(self.name)

    @property
    def cut(self) -> bool:
        return self.text != self.name

    @property
    def failed(self) -> bool:
        return self._has(JobStatus.FAILED)

    @property
    def running(self) -> bool:
        return self._has(JobStatus.PROCESSING)

    def _has(self, state: str) -> bool:
        node = self.node
        return bool(node.counts.get(state)) if isinstance(node, Group) else node.state == state


@dataclass(frozen=True)
class Line:
    path: str
    critical: bool
    # The places of its two boxes among the boxes.
    ends: str


@dataclass(frozen=True)
class Drawing:
    width: int
    height: int
    boxes: Sequence[Box]
    lines: Sequence[Line]

    @property
    def large(self) -> bool:
        """Whether it needs buttons to see all of it."""
        return self.width > LARGE_WIDTH or self.height > LARGE_HEIGHT


def draw(nodes: Sequence[Node | Group], parents: Mapping[str, Sequence[str]], path: Sequence[str]) -> Drawing:
    """Put each job right of all it depends on, and neighbours near each other as far as a few sweeps do."""
    levels = graph.levels(parents)
    columns: list[list[str]] = [[] for _ in range(max(levels.values(), default=-1) + 1)]
    for node in nodes:
        columns[levels[node.id]].append(node.id)
    columns = reduce_crossings(columns, parents)
    tallest = max((len(column) for column in columns), default=0)
    centred = tallest <= MOST_CENTRED
    corners = {
        job: (
            MARGIN + x * (BOX_WIDTH + GAP_X),
            MARGIN + (y * 2 + (tallest - len(column)) * centred) * (BOX_HEIGHT + GAP_Y) // 2,
        )
        for x, column in enumerate(columns)
        for y, job in enumerate(column)
    }
    steps, bold = set(pairwise(path)), set(path)
    boxes = [Box(node, *corners[node.id], node.id in bold) for node in nodes]
    places = {node.id: place for place, node in enumerate(nodes)}
    lines = [
        Line(
            curve(corners[parent], corners[child]),
            (parent, child) in steps,
            f"{places[parent]} {places[child]}",
        )
        for child, above in parents.items()
        for parent in above
    ]
    return Drawing(
        2 * MARGIN + max(0, len(columns) * (BOX_WIDTH + GAP_X) - GAP_X),
        2 * MARGIN + max(0, tallest * (BOX_HEIGHT + GAP_Y) - GAP_Y),
        boxes,
        sorted(lines, key=lambda line: line.critical),
    )


def reduce_crossings(columns: list[list[str]], parents: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Sort each column by the mean height of its neighbours, back and forth, so that fewer lines cross."""
    children: dict[str, list[str]] = {job: [] for job in parents}
    for child, above in parents.items():
        for parent in above:
            children[parent].append(child)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        near = parents if forward else children
        for column in columns if forward else columns[::-1]:
            height = {job: y / max(1, len(other)) for other in columns for y, job in enumerate(other)}
            mean = {
                job: sum(height[other] for other in near[job]) / len(near[job]) if near[job] else height[job]
                for job in column
            }
            column.sort(key=mean.__getitem__)
    return columns


def curve(start: tuple[int, int], end: tuple[int, int]) -> str:
    x1, y1 = start[0] + BOX_WIDTH, start[1] + BOX_HEIGHT // 2
    x2, y2 = end[0], end[1] + BOX_HEIGHT // 2
    bend = max(20, (x2 - x1) // 2)
    return f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"


def shorten(text: str) -> str:
    return cut(text, TEXT_SIZE, TEXT_ROOM)


def shorten_detail(text: str) -> str:
    """For the second, smaller line of a box."""
    return cut(text, DETAIL_SIZE, TEXT_ROOM)
