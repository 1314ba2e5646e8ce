"""The shape of a graph: cycles, levels and the longest path. Pure, and without recursion."""

from collections.abc import Hashable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def cycle(parents: Mapping[Node, Sequence[Node]]) -> list[Node] | None:
    """The members of one cycle in order, each a dependency of the next; None when there is none."""
    inside = {node: [parent for parent in before if parent in parents] for node, before in parents.items()}
    try:
        TopologicalSorter(inside).prepare()
    except CycleError as error:
        members: list[Node] = error.args[1][:-1]  # the first stands at its end once more
        return members
    return None


def order(parents: Mapping[Node, Sequence[Node]]) -> list[Node]:
    """The nodes in topological order; those on or behind a cycle are missing."""
    waits = {node: sum(1 for p in before if p in parents) for node, before in parents.items()}
    children: dict[Node, list[Node]] = {node: [] for node in parents}
    for node, before in parents.items():
        for parent in before:
            if parent in children:
                children[parent].append(node)
    reached = [node for node, count in waits.items() if count == 0]
    for node in reached:
        for child in children[node]:
            waits[child] -= 1
            if waits[child] == 0:
                reached.append(child)
    return reached


def levels(parents: Mapping[Node, Sequence[Node]]) -> dict[Node, int]:
    """The longest distance of each node from a root."""
    level: dict[Node, int] = {}
    for node in order(parents):
        level[node] = 1 + max((level[p] for p in parents[node] if p in level), default=-1)
    return level


def longest_path(parents: Mapping[Node, Sequence[Node]], weight: Mapping[Node, float]) -> list[Node]:
    """The path from a root to a leaf with the largest sum of weights."""
    best: dict[Node, float] = {}
    came_from: dict[Node, Node | None] = {}
    for node in order(parents):
        before = max((p for p in parents[node] if p in best), key=lambda p: best[p], default=None)
        came_from[node] = before
        best[node] = weight.get(node, 0.0) + (best[before] if before is not None else 0.0)
    node_or_none = max(best, key=lambda n: best[n], default=None)
    path: list[Node] = []
    while node_or_none is not None:
        path.append(node_or_none)
        node_or_none = came_from[node_or_none]
    return path[::-1]
