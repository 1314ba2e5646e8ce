"""`dure.testing.run_operation` runs an operation of a step queue as a worker would."""

import pytest
from shop import delivery
from shop.delivery import release_van, reserve_van

from dure.testing import FakeStepRun, run_operation


@pytest.fixture(autouse=True)
def free_vans(monkeypatch):
    monkeypatch.setattr(delivery, "VANS", {"van-1": None, "van-2": None})


def test_a_van_is_reserved_once_however_often_the_operation_starts():
    step = FakeStepRun()
    for _ in range(2):
        attempt = run_operation(reserve_van, step, boxes=3)
        assert (attempt.state, attempt.result, step.context) == (
            "SUCCESS",
            {"van": "van-1"},
            {"van": "van-1"},
        )
    assert attempt.messages == ["van-1 takes 3 boxes"]


def test_a_rollback_releases_the_van_and_accepts_that_there_is_none():
    step = FakeStepRun()
    run_operation(reserve_van, step, boxes=3)
    backward = step.backward()
    assert run_operation(release_van, backward, boxes=3).result == ["van-1"]
    attempt = run_operation(release_van, backward, boxes=3)
    assert (attempt.state, attempt.result, attempt.context) == ("CANCELED", [], {})


def test_an_order_without_a_van_rolls_back():
    for _ in range(2):
        run_operation(reserve_van, boxes=1)
    attempt = run_operation(reserve_van, boxes=1)
    assert (attempt.state, attempt.error_message) == ("FAILED", "All vans are on the road.")
