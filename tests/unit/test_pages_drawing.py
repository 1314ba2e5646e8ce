"""The layout of the graph of a batch and of the throughput chart."""

from datetime import UTC, datetime
from itertools import pairwise

from jobs.insight.progress import Node
from jobs.pages.graph_drawing import BOX_HEIGHT, BOX_WIDTH, draw
from jobs.states import JobStatus
from scheduler.models import Minute
from scheduler.pages.monitor import CHART_HEIGHT, bars

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


def test_the_chart_fills_its_height_and_shows_a_single_failure():
    quiet, busy = Minute(done=0, failed=0), Minute(done=5_000, failed=1)
    first, second = bars([quiet, busy])
    assert (first.done_height, first.failed_height) == (0, 0)
    assert second.failed_height == 2
    assert second.failed_y >= 0
    assert second.done_height + second.failed_height == CHART_HEIGHT
