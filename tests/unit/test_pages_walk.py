"""What the words of a step's state mean to a reader, and how a walk is drawn."""

from itertools import pairwise

import pytest

from jobs.pages.graph_drawing import BOX_WIDTH
from scheduler.steps.pages import marks
from scheduler.steps.pages.graph_drawing import Operation, draw, steps_of, strip
from scheduler.steps.pages.marks import Mark, Standing
from scheduler.steps.pages.window import MOST, window_of
from scheduler.steps.states import NO_OPERATION, Direction

NOWHERE = Standing("", Direction.FORWARD)
F, B = Direction.FORWARD, Direction.BACKWARD


@pytest.mark.parametrize(
    ("state", "forward", "backward"),
    [
        ("NOTYET", Mark.NOT_YET, Mark.NOT_NEEDED),
        ("NOLIB", Mark.NO_LIBRARY, Mark.NOT_NEEDED),
        ("SUCCESS", Mark.DONE, Mark.NOT_NEEDED),
        ("SUCCESS, CANCELED", Mark.DONE, Mark.UNDONE),
        ("SUCCESS, FAILED", Mark.DONE, Mark.UNDO_FAILED),
        ("SUCCESS, FAILED, CANCELED", Mark.DONE, Mark.UNDONE),
        ("FAILED, CANCELED", Mark.FAILED, Mark.UNDONE),
        ("TIMEOUT, FAILED", Mark.TOO_LONG, Mark.UNDO_FAILED),
    ],
)
def test_every_state_has_its_marks(state, forward, backward):
    assert marks.forward("a", state, "do", NOWHERE) is forward
    assert marks.backward("a", state, "undo", NOWHERE) is backward


def test_an_operation_that_is_none_has_nothing_to_do():
    assert marks.forward("a", "SUCCESS", NO_OPERATION, NOWHERE) is Mark.NOTHING
    assert marks.backward("a", "SUCCESS, CANCELED", NO_OPERATION, NOWHERE) is Mark.NOTHING


def test_where_the_walk_is_runs_and_what_it_left_behind_will_be_undone_only_when_it_comes_back():
    there = Standing("b", F)
    assert marks.forward("b", "NOTYET", "do", there) is Mark.RUNNING
    assert marks.backward("a", "SUCCESS", "undo", there) is Mark.NOT_NEEDED
    back = Standing("b", B)
    assert marks.backward("b", "FAILED", "undo", back) is Mark.UNDOING
    assert marks.backward("a", "SUCCESS", "undo", back) is Mark.AHEAD
    assert marks.backward("c", "NOTYET", "undo", back) is Mark.NOT_NEEDED


def line(number: int, direction: str) -> dict[str, object]:
    return {"number": number, "direction": direction}


def test_the_way_is_told_by_the_order_in_which_operations_ended():
    lines = [line(1, F), line(2, F), line(2, B)]
    assert steps_of(lines, (1, B)) == {((1, F), (2, F)), ((2, F), (2, B)), ((2, B), (1, B))}
    # The third was run again by hand, long after the walk had come to its end.
    assert ((1, B), (3, B)) not in steps_of([*lines, line(1, B), line(3, B)], None)


def pair(number: int) -> tuple[Operation, Operation]:
    return Operation(number, F, "do", Mark.DONE), Operation(number, B, NO_OPERATION, Mark.NOT_NEEDED)


def test_boxes_stand_side_by_side_in_two_lanes():
    drawing = draw([pair(number) for number in range(5, 9)], set())
    above = [box for box in drawing.boxes if box.operation.direction == F]
    below = [box for box in drawing.boxes if box.operation.direction == B]
    assert [box.x for box in above] == [box.x for box in below]
    assert all(left.x + BOX_WIDTH < right.x for left, right in pairwise(above))
    assert {box.y for box in above} < {box.y for box in drawing.boxes}
    assert above[-1].x + BOX_WIDTH <= drawing.width
    assert below[0].text == "–"
    assert len(drawing.lines) == 6


def test_only_what_was_walked_is_bold_and_a_turn_is_drawn_where_it_happened():
    steps = {((1, F), (2, F)), ((2, F), (2, B)), ((2, B), (1, B)), ((9, F), (10, F))}
    drawing = draw([pair(number) for number in range(1, 4)], steps)
    assert [line.walked for line in drawing.lines] == [False, False, True, True, True]


def test_a_queue_without_jobs_is_drawn_as_nothing():
    assert draw([], set()).boxes == []
    assert strip([]) == []


def test_the_strip_is_whole_and_joins_what_stands_alike():
    pieces = strip([Mark.DONE] * 700 + [Mark.RUNNING] + [Mark.NOT_YET] * 299)
    assert [piece.mark for piece in pieces] == [Mark.DONE, Mark.RUNNING, Mark.NOT_YET]
    assert sum(piece.width for piece in pieces) == 1000
    assert all(left.x + left.width == right.x for left, right in pairwise(pieces))


def test_a_short_queue_is_shown_whole_and_a_long_one_where_it_stands():
    assert window_of(4, wanted=None, at=3).is_all
    assert (window_of(0, wanted=None, at=1).first, window_of(0, wanted=None, at=1).last) == (1, 0)
    middle = window_of(1_000, wanted=None, at=500)
    assert middle.first < 500 < middle.last
    assert middle.last - middle.first + 1 == MOST
    last = window_of(1_000, wanted=None, at=1_000)
    assert (last.last, last.later) == (1_000, None)
    assert (window_of(1_000, wanted=1, at=500).earlier, window_of(1_000, wanted=1, at=500).later) == (
        None,
        61,
    )
    assert window_of(1_000, wanted=10**17, at=500).last == 1_000
