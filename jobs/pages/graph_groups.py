"""Groups of the jobs of a large graph: by the beginning of their names, Task or layer. Pure functions."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from jobs.insight.progress import Node, state_of
from jobs.states import JobStatus

TASK, NAME, LAYER = "task", "name", "layer"
# In the order in which a large graph tries them.
KINDS = (NAME, TASK, LAYER)
# More groups than this are no overview; the next kind is tried first.
MOST_GROUPS = 60
# Jobs of an open group that are drawn one by one; the rest of it stays a group.
MOST_OPENED = 200
BAR_WIDTH = 148
# A name up to its first number, without what separates the two.
BEGINNING = re.compile(r"(.*?)[-_.:/# ]*(?:\d|$)")


@dataclass(frozen=True)
class Segment:
    """The part of a group's bar for the jobs in one state."""

    state: str
    number: int
    x: int
    width: int


@dataclass(frozen=True)
class Group:
    """Jobs that are drawn as one box."""

    id: str
    key: str
    jobs: Sequence[Node]
    # Whether it is the rest of an open group.
    rest: bool = False

    @cached_property
    def counts(self) -> Mapping[str, int]:
        return Counter(job.state for job in self.jobs)

    @property
    def state(self) -> str:
        return state_of(self.counts)

    @property
    def total(self) -> int:
        return len(self.jobs)

    @cached_property
    def bar(self) -> list[Segment]:
        segments, before = [], 0
        for state in JobStatus:
            number = self.counts.get(state, 0)
            x, end = (BAR_WIDTH * place // self.total for place in (before, before + number))
            before += number
            if number:
                segments.append(Segment(state, number, x, max(1, end - x)))
        return segments


@dataclass(frozen=True)
class Vertices:
    """What is drawn: groups and single jobs, their edges, and the vertex of each job."""

    items: Sequence[Node | Group]
    parents: Mapping[str, Sequence[str]]
    vertex_of: Mapping[str, str]


def name_prefix(name: str) -> str:
    match = BEGINNING.match(name)
    return match.group(1) if match else ""


def keys_of(nodes: Sequence[Node], levels: Mapping[str, int], kind: str) -> dict[str, str]:
    """The group of each job."""
    if kind == LAYER:
        return {node.id: str(levels[node.id] + 1) for node in nodes}
    if kind == NAME:
        return {node.id: name_prefix(node.ref) or node.task_id for node in nodes}
    return {node.id: node.task_id for node in nodes}


def default_kind(keys: Mapping[str, Mapping[str, str]], possible: Sequence[str]) -> str | None:
    """The jobs one by one if they can be drawn, else the first kind that gives an overview, else any."""
    useful = [
        kind for kind in possible if kind not in keys or 2 <= len(set(keys[kind].values())) <= MOST_GROUPS
    ]
    return next(iter([*useful, *possible]), None)


def vertices(
    nodes: Sequence[Node],
    parents: Mapping[str, Sequence[str]],
    levels: Mapping[str, int],
    keys: Mapping[str, str],
    opened: str,
) -> Vertices:
    """Groups, and the jobs of the open one.

    An edge back to an earlier group is left out: groups may depend on each other both ways, and a drawing
    goes from left to right.
    """
    members: dict[str, list[Node]] = {}
    for node in nodes:
        members.setdefault(keys[node.id], []).append(node)
    items: list[Node | Group] = []
    rank: dict[str, tuple[int, int]] = {}
    vertex_of: dict[str, str] = {}
    for place, (key, jobs) in enumerate(members.items()):
        single = sorted(jobs, key=_urgency)[:MOST_OPENED] if key == opened else []
        alone = {job.id for job in single}
        grouped = [job for job in jobs if job.id not in alone]
        items += single
        for job in single:
            rank[job.id], vertex_of[job.id] = (levels[job.id], place), job.id
        if grouped:
            group = Group(f"group-{place}", key, grouped, rest=bool(single))
            items.append(group)
            rank[group.id] = (min(levels[job.id] for job in grouped), place)
            vertex_of |= {job.id: group.id for job in grouped}
    edges: dict[str, dict[str, None]] = {vertex.id: {} for vertex in items}
    for child, above in parents.items():
        for parent in above:
            start, end = vertex_of[parent], vertex_of[child]
            if rank[start] < rank[end]:
                edges[end][start] = None
    return Vertices(items, {vertex: list(above) for vertex, above in edges.items()}, vertex_of)


def _urgency(node: Node) -> int:
    """Failed jobs first, then running ones."""
    return {JobStatus.FAILED: 0, JobStatus.PROCESSING: 1}.get(JobStatus(node.state), 2)
