"""The context of a run: shared by its operations, JSON, limited in size, saved at the end of each."""

import pytest

from scheduler.steps import lifecycle
from tests.step_factories import (
    a_job,
    a_queue,
    claimed,
    completed,
    fresh,
    run_operation,
    run_to_end,
    states,
    steps,
)

pytestmark = pytest.mark.django_db


def putting(**arguments):
    return {"forward_operation": "put", "arguments": arguments}


def test_the_context_passes_values_to_the_next_operation():
    queue = completed(a_queue(putting(value={"deep": [1, "둘", None]}), a_job("b")))
    assert queue.context == {"value": {"deep": [1, "둘", None]}, "notes": ["b FORWARD"]}


def test_the_context_changes_when_the_operation_ends():
    queue = a_queue(putting(value=1), a_job("b"))
    lifecycle.run(queue.queue_id)
    run = claimed(queue)
    assert fresh(queue).context == {}
    run.perform()
    assert fresh(queue).context == {"value": 1}


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        ("set", "not JSON"),
        ("nan", "not JSON"),
        ("number", "a key that is not a string"),
        ("nul", "NUL"),
        ("half", "not JSON"),
    ],
)
def test_a_context_that_is_not_json_fails_the_job_and_rolls_back(odd, reason):
    queue = completed(a_queue(a_job("a"), putting(odd=odd), a_job("c")))
    assert states(queue) == ["SUCCESS, CANCELED", "FAILED, CANCELED", "NOTYET"]
    returned = steps(queue)[1].job_return["forward"]
    assert reason in returned["error"]
    assert returned["failure_type"] == "invalid_args"
    assert queue.context == {"notes": ["a FORWARD", "a BACKWARD"]}


def test_the_context_has_at_most_256_kib():
    # {"value":"…"} is twelve bytes around it.
    assert states(completed(a_queue(putting(size=256 * 1024 - 12)))) == ["SUCCESS"]
    queue = completed(a_queue(putting(size=256 * 1024 - 11)))
    assert states(queue) == ["FAILED, CANCELED"]
    assert "262,145 bytes" in steps(queue)[0].job_return["forward"]["error"]
    assert queue.context == {}


def test_the_context_is_unchanged_after_a_workers_death():
    queue = a_queue(a_job("a"), a_job("b"))
    lifecycle.run(queue.queue_id)
    run_operation(queue)
    run = claimed(queue)
    run.lose()
    assert fresh(queue).context == {"notes": ["a FORWARD"]}
    run_to_end(queue)
    assert fresh(queue).context == {"notes": ["a FORWARD", "b FORWARD"]}


def test_the_context_of_another_execution_is_not_used():
    first, second = a_queue(a_job("first")), a_queue(a_job("second"))
    for queue in (first, second):
        lifecycle.run(queue.queue_id)
    left, right = claimed(first), claimed(second)
    left.perform()
    # The other queue's worker died three times, and this process reports it.
    right.lose()
    for _ in range(2):
        claimed(second).lose()
    assert fresh(second).context == {}
    run_to_end(second)
    assert states(second) == ["FAILED, CANCELED"]
