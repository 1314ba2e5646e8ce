"""Groups of the jobs of a large graph."""

from datetime import UTC, datetime

import pytest

from jobs import graph
from jobs.insight.progress import Node
from jobs.pages.batch_view import SINGLE
from jobs.pages.graph_drawing import MOST_DRAWN, draw
from jobs.pages.graph_groups import (
    BAR_WIDTH,
    KINDS,
    LAYER,
    MOST_OPENED,
    NAME,
    TASK,
    Group,
    Vertices,
    default_kind,
    keys_of,
    name_prefix,
    vertices,
)
from jobs.states import JobStatus

AT = datetime(2026, 12, 1, tzinfo=UTC)


def job(ref: str, task: str = "demo.sum", status: str = JobStatus.DONE) -> Node:
    return Node(ref, ref, task, "BE", status, AT, AT)


def default(nodes: list[Node], levels: dict[str, int], *possible: str) -> str | None:
    keys = {kind: keys_of(nodes, levels, kind) for kind in KINDS}
    return default_kind(
        keys, possible or [kind for kind in KINDS if len(set(keys[kind].values())) <= MOST_DRAWN]
    )


def grouped(nodes: list[Node], parents: dict[str, list[str]], kind: str, opened: str = "") -> Vertices:
    levels = graph.levels(parents)
    return vertices(nodes, parents, levels, keys_of(nodes, levels, kind), opened)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("import-0001-part-3", "import"),
        ("n17", "n"),
        ("보고서 3", "보고서"),
        ("release/notes", "release/notes"),
        ("42", ""),
        ("", ""),
    ],
)
def test_the_beginning_of_a_name_ends_at_its_first_number(name, expected):
    assert name_prefix(name) == expected


def test_ten_thousand_jobs_become_a_few_groups_with_all_their_states():
    nodes = [job(f"load-{i}") for i in range(5_000)]
    nodes += [job(f"sum-{i}", status=JobStatus.FAILED if i < 3 else JobStatus.PENDING) for i in range(5_000)]
    parents = {f"load-{i}": [] for i in range(5_000)} | {f"sum-{i}": [f"load-{i}"] for i in range(5_000)}
    assert default(nodes, graph.levels(parents)) == NAME
    drawn = grouped(nodes, parents, NAME)
    load, total = drawn.items
    assert isinstance(load, Group)
    assert isinstance(total, Group)
    assert (load.total, total.counts) == (5_000, {JobStatus.FAILED: 3, JobStatus.PENDING: 4_997})
    assert drawn.parents == {load.id: [], total.id: [load.id]}
    # A few failures among thousands are still seen.
    assert [(part.state, part.width >= 1) for part in total.bar] == [("pending", True), ("failed", True)]
    assert all(part.x + part.width <= BAR_WIDTH for part in total.bar)
    drawing = draw(drawn.items, drawn.parents, [])
    assert [box.failed for box in drawing.boxes] == [False, True]


def test_an_open_group_shows_its_failed_jobs_first_and_the_rest_as_a_group():
    nodes = [job("start", "demo.start")]
    nodes += [job(f"n{i}", status=JobStatus.FAILED if i == 400 else JobStatus.DONE) for i in range(500)]
    parents = {"start": []} | {f"n{i}": ["start"] for i in range(500)}
    drawn = grouped(nodes, parents, TASK, "demo.sum").items
    singles = [item for item in drawn if isinstance(item, Node)]
    assert len(singles) == MOST_OPENED
    assert singles[0].id == "n400"
    rest = [item for item in drawn if isinstance(item, Group) and item.rest]
    assert [item.total for item in rest] == [500 - MOST_OPENED]


def test_groups_that_depend_on_each_other_both_ways_are_drawn_from_left_to_right():
    nodes = [job("a1", "demo.a"), job("b1", "demo.b"), job("a2", "demo.a"), job("b2", "demo.b")]
    parents = {"a1": [], "b1": ["a1"], "a2": ["b1"], "b2": ["a2"]}
    drawn = grouped(nodes, parents, TASK)
    first, second = drawn.items
    assert drawn.parents == {first.id: [], second.id: [first.id]}
    assert graph.cycle(grouped(nodes, parents, TASK, "demo.a").parents) is None


def test_a_kind_without_an_overview_is_not_the_default():
    chain = [job(f"step-{i}", f"demo.t{i % 3}") for i in range(700)]
    levels = {f"step-{i}": i for i in range(700)}
    # One name tells nothing; three Tasks do.
    assert default(chain, levels) == TASK
    assert default(chain, levels, SINGLE, NAME) == SINGLE
    assert default([job(f"step-{i}") for i in range(700)], levels) == NAME
    assert keys_of(chain, levels, LAYER)["step-4"] == "5"
