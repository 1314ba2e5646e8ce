"""A workflow's steps as a graph and as a list, as far as they are valid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobs import catalogue, graph
from jobs.insight.progress import Node
from jobs.known_tasks import UnknownTask
from jobs.pages.graph_drawing import MOST_DRAWN, Drawing, draw
from scheduler.workflows import editing


@dataclass(frozen=True)
class Step:
    node: Node
    depends_on: Sequence[str]
    args: Any


def steps_of(value: object) -> list[Step]:
    """The steps among the values. Others are left out; validation reports them."""
    steps = [step for step in value if isinstance(step, Mapping)] if isinstance(value, list) else []
    return [_step(index, step) for index, step in enumerate(steps)]


def drawing_of(steps: Sequence[Step]) -> Drawing | None:
    """The drawing of the steps; None if there are none, too many, or a cycle."""
    if not steps or len(steps) > MOST_DRAWN:
        return None
    by_place = editing.parents_of([{"ref": step.node.ref, "depends_on": step.depends_on} for step in steps])
    parents = {str(place): [str(parent) for parent in above] for place, above in by_place.items()}
    if graph.cycle(parents) is not None:
        return None
    return draw([step.node for step in steps], parents, ())


def _step(index: int, step: Mapping[str, Any]) -> Step:
    task_id, ref, role = (_text(step.get(name)) for name in ("task_id", "ref", "role"))
    node = Node(str(index), ref, task_id, role or _role_of(task_id), "", None, None)
    return Step(node, editing.dependencies_of(step), step.get("args"))


def _role_of(task_id: str) -> str:
    try:
        return catalogue.find(task_id).role
    except UnknownTask:
        return ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
