"""The context: shared by all operations of a run, JSON, of limited size, changed with the end of each."""

import pytest

from scheduler.steps import lifecycle
from tests.step_factories import (
    a_job,
    a_queue,
    carry_out_all,
    carry_out_one,
    claimed,
    fresh,
    ran,
    states,
    steps,
)

pytestmark = pytest.mark.django_db


def putting(**arguments):
    return {"forward_operation": "put", "arguments": arguments}


def test_what_one_operation_puts_there_the_next_one_finds():
    queue = ran(a_queue(putting(value={"deep": [1, "둘", None]}), a_job("b")))
    assert queue.context == {"value": {"deep": [1, "둘", None]}, "notes": ["b FORWARD"]}


def test_it_changes_as_the_operation_ends_and_not_before():
    queue = a_queue(putting(value=1), a_job("b"))
    lifecycle.run(queue.queue_id)
    run = claimed(queue)
    assert fresh(queue).context == {}
    run.carry_out()
    assert fresh(queue).context == {"value": 1}


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ("set", "not JSON"),
        ("nan", "not JSON"),
        ("number", "a key that is no text"),
        ("nul", "NUL"),
        ("half", "not JSON"),
    ],
)
def test_what_is_not_json_fails_the_job_clearly_and_turns_the_queue_back(odd, said):
    queue = ran(a_queue(a_job("a"), putting(odd=odd), a_job("c")))
    assert states(queue) == ["SUCCESS, CANCELED", "FAILED, CANCELED", "NOTYET"]
    returned = steps(queue)[1].job_return["forward"]
    assert said in returned["error"]
    assert returned["failure_type"] == "invalid_args"
    assert queue.context == {"notes": ["a FORWARD", "a BACKWARD"]}


def test_it_has_at_most_256_kib():
    # {"value":"…"} is twelve bytes around it.
    assert states(ran(a_queue(putting(size=256 * 1024 - 12)))) == ["SUCCESS"]
    queue = ran(a_queue(putting(size=256 * 1024 - 11)))
    assert states(queue) == ["FAILED, CANCELED"]
    assert "262,145 bytes" in steps(queue)[0].job_return["forward"]["error"]
    assert queue.context == {}


def test_what_was_put_there_before_a_failure_is_there_for_the_undo():
    queue = a_queue(a_job("a", "fail"))
    lifecycle.run(queue.queue_id)
    carry_out_one(queue)
    assert fresh(queue).context == {"notes": ["a FORWARD"]}


def test_an_operation_whose_worker_died_finds_it_as_it_was_before():
    queue = a_queue(a_job("a"), a_job("b"))
    lifecycle.run(queue.queue_id)
    carry_out_one(queue)
    run = claimed(queue)
    run.lose()
    assert fresh(queue).context == {"notes": ["a FORWARD"]}
    carry_out_all(queue)
    assert fresh(queue).context == {"notes": ["a FORWARD", "b FORWARD"]}


def test_what_another_execution_left_is_not_taken_for_this_ones():
    first, second = a_queue(a_job("first")), a_queue(a_job("second"))
    for queue in (first, second):
        lifecycle.run(queue.queue_id)
    left, right = claimed(first), claimed(second)
    left.carry_out()
    # The other's worker is gone three times, and this process reports it.
    right.lose()
    for _ in range(2):
        claimed(second).lose()
    assert fresh(second).context == {}
    carry_out_all(second)
    assert states(second) == ["FAILED, CANCELED"]
