"""Changes of a workflow's steps, as an editor makes them. Each returns new steps. Pure functions.

Steps are objects as people write them. Validation comes later, so any field may be missing or wrong.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from jobs import graph
from jobs.errors import InvalidValue
from jobs.references import PATH, RESULT, MalformedReference, Reference, replace_references

Steps = list[dict[str, Any]]


def ref_of(step: Mapping[str, Any]) -> str:
    ref = step.get("ref")
    return ref if isinstance(ref, str) else ""


def dependencies_of(step: Mapping[str, Any]) -> list[str]:
    names = step.get("depends_on")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def parents_of(steps: Sequence[Mapping[str, Any]]) -> dict[int, list[int]]:
    """The places of the steps that each step depends on, as far as they exist."""
    places = {ref_of(step): place for place, step in enumerate(steps) if ref_of(step)}
    return {
        place: [places[name] for name in dict.fromkeys(dependencies_of(step)) if name in places]
        for place, step in enumerate(steps)
    }


def add(steps: Steps, task_id: str) -> Steps:
    return [*steps, {"ref": _free_ref(steps, task_id.rpartition(".")[2]), "task_id": task_id}]


def remove(steps: Steps, place: int) -> Steps:
    """Remove a step, and what depended on it depends on it no more."""
    for child in [child for child, parents in parents_of(steps).items() if place in parents]:
        steps = disconnect(steps, child, place)
    return steps[:place] + steps[place + 1 :]


def change(steps: Steps, place: int, values: Mapping[str, Any]) -> Steps:
    """Set these fields of a step; None removes one."""
    step = {name: value for name, value in {**steps[place], **values}.items() if value is not None}
    return [*steps[:place], step, *steps[place + 1 :]]


def rename(steps: Steps, place: int, ref: str) -> Steps:
    """Rename a step; dependencies on it and references to its result follow."""
    old = ref_of(steps[place])
    others = [other for number, other in enumerate(steps) if number != place]
    if ref and any(ref_of(other) == ref for other in others):
        raise InvalidValue("ref_twice", name=ref)
    is_used = bool(old) and any(old in dependencies_of(other) for other in others)
    if is_used and not ref:
        raise InvalidValue("ref_needed")
    renamed = change(steps, place, {"ref": ref or None})
    if not old or any(ref_of(other) == old for other in others):
        return renamed
    return [step if number == place else _follow(step, old, ref) for number, step in enumerate(renamed)]


def connect(steps: Steps, place: int, parent: int) -> Steps:
    """Let a step depend on another one, which gets a name if it has none."""
    if place == parent:
        raise InvalidValue("dependency_self")
    if not ref_of(steps[parent]):
        name = str(steps[parent].get("task_id") or "").rpartition(".")[2]
        steps = change(steps, parent, {"ref": _free_ref(steps, name)})
    names = dependencies_of(steps[place])
    if (ref := ref_of(steps[parent])) in names:
        return steps
    connected = change(steps, place, {"depends_on": [*names, ref]})
    cycle = graph.cycle(parents_of(connected))
    if cycle is not None and graph.cycle(parents_of(steps)) is None:
        members = " → ".join(name_of(connected, member) for member in [*cycle, cycle[0]])
        raise InvalidValue("step_cycle", name=name_of(steps, place), other=ref, members=members)
    return connected


def disconnect(steps: Steps, place: int, parent: int) -> Steps:
    return forget(steps, place, ref_of(steps[parent]))


def forget(steps: Steps, place: int, name: str) -> Steps:
    """Remove a name from what a step depends on, whether such a step exists or not."""
    left = [each for each in dependencies_of(steps[place]) if each != name]
    return change(steps, place, {"depends_on": left or None})


def name_of(steps: Sequence[Mapping[str, Any]], place: int) -> str:
    return ref_of(steps[place]) or str(steps[place].get("task_id") or place + 1)


def _follow(step: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    def read(reference: Reference) -> dict[str, str]:
        if reference.is_input:
            return {"$input": reference.path}
        path = {PATH: reference.path} if reference.path else {}
        return {RESULT: new if reference.name == old else reference.name, **path}

    step = dict(step)
    if old in dependencies_of(step):
        step["depends_on"] = [new if name == old else name for name in step["depends_on"]]
    try:
        return step if "args" not in step else {**step, "args": replace_references(step["args"], read)}
    except MalformedReference:
        return step  # validation reports it


def _free_ref(steps: Steps, name: str) -> str:
    used = set(map(ref_of, steps))
    first = name or "step"
    numbered = (f"{first}-{number}" for number in range(2, len(steps) + 3))
    return next(ref for ref in (first, *numbered) if ref not in used)
