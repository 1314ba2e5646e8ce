"""The status of each operation on a step queue's page, and the layout of its graph."""

from itertools import pairwise

import pytest

from jobs.pages.graph_drawing import BOX_WIDTH
from scheduler.steps.pages.graph_drawing import Operation, draw, status_strip, taken_edges
from scheduler.steps.pages.operation_status import (
    OperationStatus,
    Position,
    backward_status,
    forward_status,
    job_status,
)
from scheduler.steps.pages.queue_context import WINDOW_SIZE, Window
from scheduler.steps.states import NO_OPERATION, Direction

NOWHERE = Position("", Direction.FORWARD)
F, B = Direction.FORWARD, Direction.BACKWARD


@pytest.mark.parametrize(
    ("state", "forward", "backward"),
    [
        ("NOTYET", OperationStatus.PENDING, OperationStatus.NOT_NEEDED),
        ("NOLIB", OperationStatus.NO_LIBRARY, OperationStatus.NOT_NEEDED),
        ("SUCCESS", OperationStatus.SUCCEEDED, OperationStatus.NOT_NEEDED),
        ("SUCCESS, CANCELED", OperationStatus.SUCCEEDED, OperationStatus.ROLLED_BACK),
        ("SUCCESS, FAILED", OperationStatus.SUCCEEDED, OperationStatus.ROLLBACK_FAILED),
        ("SUCCESS, FAILED, CANCELED", OperationStatus.SUCCEEDED, OperationStatus.ROLLED_BACK),
        ("FAILED, CANCELED", OperationStatus.FAILED, OperationStatus.ROLLED_BACK),
        ("TIMEOUT, FAILED", OperationStatus.TIMED_OUT, OperationStatus.ROLLBACK_FAILED),
    ],
)
def test_a_state_gives_the_status_of_both_operations(state, forward, backward):
    assert forward_status("a", state, "do", NOWHERE) is forward
    assert backward_status("a", state, "undo", NOWHERE) is backward
    whole = forward if backward is OperationStatus.NOT_NEEDED else backward
    assert job_status("a", state, "do", "undo", NOWHERE) is whole


def test_a_missing_operation_has_a_status_of_its_own():
    assert forward_status("a", "SUCCESS", NO_OPERATION, NOWHERE) is OperationStatus.NO_OPERATION
    assert backward_status("a", "SUCCESS, CANCELED", NO_OPERATION, NOWHERE) is OperationStatus.NO_OPERATION


def test_earlier_jobs_will_be_rolled_back_only_while_the_queue_rolls_back():
    forward = Position("b", F)
    assert forward_status("b", "NOTYET", "do", forward) is OperationStatus.RUNNING
    assert backward_status("a", "SUCCESS", "undo", forward) is OperationStatus.NOT_NEEDED
    backward = Position("b", B)
    assert backward_status("b", "FAILED", "undo", backward) is OperationStatus.ROLLING_BACK
    assert backward_status("a", "SUCCESS", "undo", backward) is OperationStatus.TO_ROLL_BACK
    assert backward_status("c", "NOTYET", "undo", backward) is OperationStatus.NOT_NEEDED


def line(number: int, direction: str) -> dict[str, object]:
    return {"number": number, "direction": direction}


def test_taken_edges_follow_the_order_of_the_return_message():
    lines = [line(1, F), line(2, F), line(2, B)]
    assert taken_edges(lines, (1, B)) == {((1, F), (2, F)), ((2, F), (2, B)), ((2, B), (1, B))}
    # The third job's rollback was retried by hand, long after the run had ended.
    assert ((1, B), (3, B)) not in taken_edges([*lines, line(1, B), line(3, B)], None)


def pair(number: int) -> tuple[Operation, Operation]:
    return (
        Operation(number, F, "do", OperationStatus.SUCCEEDED),
        Operation(number, B, NO_OPERATION, OperationStatus.NOT_NEEDED),
    )


def test_boxes_are_laid_out_side_by_side_in_two_rows():
    drawing = draw([pair(number) for number in range(5, 9)], set())
    above = [box for box in drawing.boxes if box.operation.direction == F]
    below = [box for box in drawing.boxes if box.operation.direction == B]
    assert [box.x for box in above] == [box.x for box in below]
    assert all(left.x + BOX_WIDTH < right.x for left, right in pairwise(above))
    assert {box.y for box in above} < {box.y for box in drawing.boxes}
    assert above[-1].x + BOX_WIDTH <= drawing.width
    assert below[0].text == "–"
    assert len(drawing.lines) == 6


def test_taken_edges_are_bold_and_a_rollback_starts_at_its_job():
    edges = {((1, F), (2, F)), ((2, F), (2, B)), ((2, B), (1, B)), ((9, F), (10, F))}
    drawing = draw([pair(number) for number in range(1, 4)], edges)
    assert [line.taken for line in drawing.lines] == [False, False, True, True, True]


def test_a_queue_without_jobs_has_an_empty_drawing():
    assert draw([], set()).boxes == []
    assert status_strip([]) == []


def test_the_strip_covers_the_queue_and_joins_neighbours_of_the_same_status():
    statuses = [OperationStatus.SUCCEEDED] * 700 + [OperationStatus.RUNNING] + [OperationStatus.PENDING] * 299
    segments = status_strip(statuses)
    assert [segment.status for segment in segments] == [
        OperationStatus.SUCCEEDED,
        OperationStatus.RUNNING,
        OperationStatus.PENDING,
    ]
    assert sum(segment.width for segment in segments) == 1000
    assert all(left.x + left.width == right.x for left, right in pairwise(segments))


def test_a_window_holds_a_short_queue_whole_and_the_current_part_of_a_long_one():
    assert Window.around(4, start=None, center=3).is_all
    assert Window.around(0, start=None, center=1) == Window(1, 0, 0)
    middle = Window.around(1_000, start=None, center=500)
    assert middle.first < 500 < middle.last
    assert middle.last - middle.first + 1 == WINDOW_SIZE
    last = Window.around(1_000, start=None, center=1_000)
    assert (last.last, last.later) == (1_000, None)
    first = Window.around(1_000, start=1, center=500)
    assert (first.earlier, first.later) == (None, 61)
    assert Window.around(1_000, start=10**17, center=500).last == 1_000
