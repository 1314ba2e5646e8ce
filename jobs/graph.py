"""The shape of a graph: cycles, levels and the longest path. Pure, and without recursion."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def cycle(parents: Mapping[Node, Sequence[Node]]) -> list[Node] | None:
    """The members of one cycle in order, each a dependency of the next; None when there is none."""
    done = set(order(parents))
    left = next((node for node in parents if node not in done), None)
    if left is None:
        return None
    # Each remaining node has a remaining parent, so following parents must repeat a node.
    seen: dict[Node, int] = {}
    path: list[Node] = []
    node = left
    while node not in seen:
        seen[node] = len(path)
        path.append(node)
        node = next(parent for parent in parents[node] if parent in parents and parent not in done)
    return path[seen[node] :][::-1]


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
