"""The shape of a graph: its cycles, order, levels and longest path."""

import random

import pytest

from jobs import graph


def test_a_graph_without_a_cycle_has_none():
    assert graph.cycle({}) is None
    assert graph.cycle({"a": [], "b": ["a"], "c": ["a", "b"]}) is None


@pytest.mark.parametrize(
    "parents",
    [
        {"a": ["a"]},
        {"a": ["b"], "b": ["a"]},
        {"a": ["c"], "b": ["a"], "c": ["b"], "d": ["c"], "e": []},
        {"x": ["a"], "a": ["x", "b"], "b": ["c"], "c": ["b"]},
    ],
)
def test_the_members_of_a_cycle_come_in_order_each_a_dependency_of_the_next(parents):
    circle = graph.cycle(parents)
    assert circle
    assert len(set(circle)) == len(circle)
    for node, following in zip(circle, [*circle[1:], circle[0]], strict=True):
        assert node in parents[following]


def test_a_cycle_is_found_exactly_where_there_is_one():
    chance = random.Random(7)
    for _ in range(300):
        count = chance.randint(1, 12)
        parents = {n: chance.sample(range(count), chance.randint(0, min(3, count))) for n in range(count)}
        circle = graph.cycle(parents)
        complete = len(graph.order(parents)) == count
        assert (circle is None) == complete
        if circle:
            assert all(a in parents[b] for a, b in zip(circle, [*circle[1:], circle[0]], strict=True))


def test_a_chain_of_ten_thousand_nodes_is_sorted():
    chain = {n: [n - 1] if n else [] for n in range(10_000)}
    assert graph.cycle(chain) is None
    assert graph.levels(chain)[9_999] == 9_999
    assert graph.longest_path(chain, dict.fromkeys(chain, 1.0)) == list(range(10_000))
    chain[0] = [9_999]
    assert len(graph.cycle(chain) or ()) == 10_000


def test_every_node_comes_after_its_parents():
    parents = {"d": ["b", "c"], "c": ["a"], "b": ["a"], "a": []}
    order = graph.order(parents)
    for node, before in parents.items():
        assert all(order.index(parent) < order.index(node) for parent in before)


def test_parents_from_outside_do_not_count():
    assert graph.order({"a": ["elsewhere"]}) == ["a"]
    assert graph.levels({"a": ["elsewhere"]}) == {"a": 0}


def test_the_longest_path_is_the_heaviest_and_not_the_one_with_most_nodes():
    parents = {"a": [], "b": ["a"], "c": ["b"], "d": ["a"], "end": ["c", "d"]}
    weight = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 5.0, "end": 1.0}
    assert graph.longest_path(parents, weight) == ["a", "d", "end"]
    assert graph.longest_path({}, {}) == []
