"""The layout of the graph of a batch and of the throughput chart."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from jobs.insight.progress import Node
from jobs.pages.graph_drawing import BOX_HEIGHT, BOX_WIDTH, draw
from jobs.states import JobStatus
from scheduler.pages.charts import HEIGHT, bars, path_of
from scheduler.trends import Step

AT = datetime(2026, 12, 1, tzinfo=UTC)


def nodes(*names: str) -> list[Node]:
    return [Node(name, name, "demo.sum", "BE", JobStatus.DONE, AT, AT) for name in names]


def test_a_job_is_right_of_all_it_depends_on():
    parents = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c", "a"]}
    drawing = draw(nodes(*parents), parents, ["a", "b", "d"])
    x = {box.node.id: box.x for box in drawing.boxes}
    for child, above in parents.items():
        for parent in above:
            assert x[parent] + BOX_WIDTH < x[child]


def test_boxes_do_not_overlap_and_are_inside_the_drawing():
    parents = {f"n{i}": [f"n{j}" for j in range(i) if (i * j) % 7 == 1] for i in range(60)}
    drawing = draw(nodes(*parents), parents, [])
    spots = {(box.x, box.y) for box in drawing.boxes}
    assert len(spots) == 60
    for x in {x for x, _ in spots}:
        column = sorted(y for other, y in spots if other == x)
        assert all(low + BOX_HEIGHT < high for low, high in pairwise(column))
    assert all(0 <= x <= drawing.width - BOX_WIDTH for x, _ in spots)
    assert all(0 <= y <= drawing.height - BOX_HEIGHT for _, y in spots)


def test_the_critical_path_is_bold():
    parents = {"a": [], "b": ["a"], "c": ["a", "b"]}
    drawing = draw(nodes(*parents), parents, ["a", "b", "c"])
    assert [line.critical for line in drawing.lines] == [False, True, True]
    assert all(box.critical for box in drawing.boxes)


def test_an_empty_graph_has_no_boxes():
    assert draw([], {}, []).boxes == []


def a_step(minute: int, **values) -> Step:
    return Step(AT + timedelta(minutes=minute), AT + timedelta(minutes=minute + 1), **values)


def test_the_chart_fills_its_height_and_shows_a_single_failure():
    first, second = bars([a_step(0), a_step(1, done=5_000, failed=1)])
    assert (first.done_height, first.failed_height) == (0, 0)
    assert second.failed_height == 2
    assert second.failed_y >= 0
    assert second.done_height + second.failed_height == HEIGHT


def test_a_bar_links_to_the_runs_of_its_time():
    (bar,) = bars([a_step(0, done=1)])
    assert bar.address.startswith("/runs?range=custom&since=")


def test_a_line_is_interrupted_where_there_is_no_value():
    path = path_of([1.0, None, 2.0, 0.0], 2.0)
    assert path.count("M") == 2
    assert path.endswith(f"L510.0 {HEIGHT:.1f}")
    assert path_of([None, None], 0) == ""
