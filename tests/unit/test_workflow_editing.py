"""Changes of a workflow's steps by its editor: names, dependencies, references and cycles."""

import pytest

from jobs.errors import InvalidValue
from scheduler.workflows import editing
from scheduler.workflows.editing import Steps

STEPS: Steps = [
    {"ref": "load", "task_id": "demo.sum", "args": {"numbers": [1]}},
    {
        "ref": "send",
        "task_id": "demo.sum",
        "args": {"numbers": [{"$result": "load", "path": "total"}, {"$input": "month"}]},
        "depends_on": ["load"],
    },
    {"ref": "end", "task_id": "demo.sum", "depends_on": ["send", "load"]},
]


def test_a_new_step_has_a_free_name_of_its_task():
    steps = editing.add(editing.add([], "demo.sum"), "demo.sum")
    assert steps == [{"ref": "sum", "task_id": "demo.sum"}, {"ref": "sum-2", "task_id": "demo.sum"}]


def test_dependencies_and_references_follow_a_new_name():
    steps = editing.rename(STEPS, 0, "fetch")
    assert [step["ref"] for step in steps] == ["fetch", "send", "end"]
    assert steps[1]["depends_on"] == ["fetch"]
    assert steps[1]["args"] == {"numbers": [{"$result": "fetch", "path": "total"}, {"$input": "month"}]}
    assert steps[2]["depends_on"] == ["send", "fetch"]
    assert STEPS[0]["ref"] == "load"


def test_a_name_that_is_taken_or_needed_is_refused():
    with pytest.raises(InvalidValue, match="'end' is used twice"):
        editing.rename(STEPS, 0, "end")
    with pytest.raises(InvalidValue, match="it needs a name"):
        editing.rename(STEPS, 0, "")
    assert "ref" not in editing.rename(STEPS, 2, "")[2]


def test_a_dependency_on_the_other_step_of_a_doubled_name_stays():
    doubled: Steps = [
        {"ref": "a", "task_id": "x"},
        {"ref": "a", "task_id": "x"},
        {"ref": "b", "depends_on": ["a"]},
    ]
    assert editing.rename(doubled, 1, "c")[2]["depends_on"] == ["a"]


def test_a_malformed_reference_is_left_to_validation():
    steps: Steps = [{"ref": "a"}, {"depends_on": ["a"], "args": {"x": {"$result": "a", "odd": 1}}}]
    assert editing.rename(steps, 0, "b")[1] == {**steps[1], "depends_on": ["b"]}


def test_a_removed_step_is_no_dependency_any_more():
    steps = editing.remove(STEPS, 0)
    assert [editing.dependencies_of(step) for step in steps] == [[], ["send"]]
    assert "depends_on" not in steps[0]


def test_a_connection_is_made_once_and_removed():
    steps = editing.connect([{"task_id": "demo.sum"}, {"ref": "b", "task_id": "demo.sum"}], 1, 0)
    assert steps == [
        {"task_id": "demo.sum", "ref": "sum"},
        {"ref": "b", "task_id": "demo.sum", "depends_on": ["sum"]},
    ]
    assert editing.connect(steps, 1, 0) == steps
    assert "depends_on" not in editing.disconnect(steps, 1, 0)[1]


def test_a_connection_that_would_make_a_cycle_is_refused_with_its_members():
    with pytest.raises(InvalidValue) as refused:
        editing.connect(STEPS, 0, 2)
    assert "'load' cannot run after 'end'" in str(refused.value)
    assert "load → send → end" in str(refused.value) or "end → load" in str(refused.value)
    with pytest.raises(InvalidValue, match="cannot depend on itself"):
        editing.connect(STEPS, 0, 0)
