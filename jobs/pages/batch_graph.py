"""The graph of a batch: its jobs one by one, or in groups where they are too many."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from jobs import graph
from jobs.display import Text
from jobs.insight.progress import Node
from jobs.pages import graph_groups
from jobs.pages.batch_view import SINGLE, BatchView
from jobs.pages.graph_drawing import MOST_DRAWN, Drawing, draw

KIND_NAMES: Mapping[str, Text] = {
    SINGLE: _("Jobs"),
    graph_groups.NAME: _("By name"),
    graph_groups.TASK: _("By Task"),
    graph_groups.LAYER: _("By layer"),
}


@dataclass(frozen=True)
class BatchGraph:
    # None if it would be too large in any way.
    drawing: Drawing | None
    # Name, view, and whether it is this one.
    choices: Sequence[tuple[Text, BatchView, bool]]
    # How the jobs are grouped; nothing if they are not.
    kind: str
    # The key of the open group.
    opened: str


def batch_graph(
    nodes: Sequence[Node], parents: Mapping[str, Sequence[str]], path: Sequence[str], view: BatchView
) -> BatchGraph:
    levels = graph.levels(parents)
    keys = {kind: graph_groups.keys_of(nodes, levels, kind) for kind in graph_groups.KINDS}
    possible = [kind for kind in keys if len(set(keys[kind].values())) <= MOST_DRAWN]
    if len(nodes) <= MOST_DRAWN:
        possible.insert(0, SINGLE)
    kind = view.group if view.group in possible else graph_groups.default_kind(keys, possible)
    choices = [(KIND_NAMES[other], view.with_groups(other), other == kind) for other in possible]
    if kind is None or kind == SINGLE:
        return BatchGraph(draw(nodes, parents, path) if kind else None, choices, "", "")
    vertices = graph_groups.vertices(nodes, parents, levels, keys[kind], view.opened)
    drawing = draw(vertices.items, vertices.parents, [vertices.vertex_of[job] for job in path])
    opened = view.opened if view.opened in set(keys[kind].values()) else ""
    return BatchGraph(drawing, choices, kind, opened)
