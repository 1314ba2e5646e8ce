"""A workflow's steps as a drawing and as a list, as far as what is written makes sense."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobs import graph, registry
from jobs.insight.progress import Node
from jobs.pages.batch import MOST_DRAWN
from jobs.pages.graph_drawing import Drawing, draw


@dataclass(frozen=True)
class Step:
    node: Node
    depends_on: Sequence[str]
    args: Any


def steps_of(written: object) -> list[Step]:
    """What is no step is left out: its refusal tells why."""
    given = [one for one in written if isinstance(one, Mapping)] if isinstance(written, list) else []
    return [_step(place, one) for place, one in enumerate(given)]


def drawing_of(steps: Sequence[Step]) -> Drawing | None:
    """None where there is nothing to draw, too much, or a circle."""
    if not steps or len(steps) > MOST_DRAWN:
        return None
    by_ref = {step.node.ref: step.node.id for step in steps if step.node.ref}
    parents = {
        step.node.id: [by_ref[name] for name in dict.fromkeys(step.depends_on) if name in by_ref]
        for step in steps
    }
    if graph.cycle(parents) is not None:
        return None
    return draw([step.node for step in steps], parents, ())


def _step(place: int, one: Mapping[str, Any]) -> Step:
    task_id, ref, role = (_text(one.get(name)) for name in ("task_id", "ref", "role"))
    named = one.get("depends_on")
    before = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    return Step(
        Node(str(place), ref, task_id, role or _role_of(task_id), "", None, None), before, one.get("args")
    )


def _role_of(task_id: str) -> str:
    try:
        return registry.find(task_id).role
    except registry.UnknownTask:
        return ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
