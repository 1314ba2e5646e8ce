"""Where the boxes of a graph and the bars of an hour stand."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from jobs.insight.progress import Node
from jobs.pages.graph_drawing import BARS_WIDTH, BOX_HEIGHT, BOX_WIDTH, bar, draw
from jobs.pages.secrets import HIDDEN, hidden
from jobs.states import JobStatus
from scheduler.models import Minute
from scheduler.pages.monitor import CHART_HEIGHT, bars

AT = datetime(2026, 12, 1, tzinfo=UTC)


def nodes(*names: str) -> list[Node]:
    return [Node(name, name, "demo.sum", "BE", JobStatus.DONE, AT, AT) for name in names]


def test_a_job_stands_right_of_all_it_waits_for():
    parents = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c", "a"]}
    drawing = draw(nodes(*parents), parents, ["a", "b", "d"])
    x = {box.node.id: box.x for box in drawing.boxes}
    for child, found in parents.items():
        for parent in found:
            assert x[parent] + BOX_WIDTH < x[child]


def test_no_box_covers_another_and_all_are_inside():
    parents = {f"n{i}": [f"n{j}" for j in range(i) if (i * j) % 7 == 1] for i in range(60)}
    drawing = draw(nodes(*parents), parents, [])
    spots = {(box.x, box.y) for box in drawing.boxes}
    assert len(spots) == 60
    for x in {x for x, _ in spots}:
        column = sorted(y for other, y in spots if other == x)
        assert all(low + BOX_HEIGHT < high for low, high in pairwise(column))
    assert all(0 <= x <= drawing.width - BOX_WIDTH for x, _ in spots)
    assert all(0 <= y <= drawing.height - BOX_HEIGHT for _, y in spots)


def test_only_the_steps_of_the_longest_chain_are_bold():
    parents = {"a": [], "b": ["a"], "c": ["a", "b"]}
    drawing = draw(nodes(*parents), parents, ["a", "b", "c"])
    assert [line.critical for line in drawing.lines] == [False, True, True]
    assert all(box.critical for box in drawing.boxes)


def test_a_graph_of_nothing_is_drawn_as_nothing():
    assert draw([], {}, []).boxes == []


def test_a_bar_is_a_part_of_the_whole_and_never_too_thin_to_see():
    end = AT + timedelta(seconds=100)
    half = bar(AT + timedelta(seconds=50), end, AT, end)
    assert half is not None
    assert (half.x, half.width) == (BARS_WIDTH // 2, BARS_WIDTH // 2)
    instant = bar(end, end, AT, end)
    assert instant is not None
    assert instant.width == 4
    assert instant.x + instant.width <= BARS_WIDTH
    assert bar(None, end, AT, end) is None


def test_the_chart_fills_its_height_and_shows_a_single_failure():
    quiet, busy = Minute(done=0, failed=0), Minute(done=5_000, failed=1)
    first, second = bars([quiet, busy])
    assert (first.done_height, first.failed_height) == (0, 0)
    assert second.failed_height == 2
    assert second.failed_y >= 0
    assert second.done_height + second.failed_height == CHART_HEIGHT


def test_what_is_secret_by_its_name_is_not_shown():
    shown = hidden({"url": "https://a", "headers": [{"Authorization": "Bearer x"}], "api_key": "k"})
    assert shown == {"url": "https://a", "headers": [{"Authorization": HIDDEN}], "api_key": HIDDEN}
