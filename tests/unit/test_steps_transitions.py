"""Every transition of a walk, one row each."""

import pytest

from scheduler.steps.states import rollback_failed
from scheduler.steps.transitions import Ended, Here, passed, passed_without_library


def here(state: str = "NOTYET", prev: str = "before", after: str = "after", **operations: str) -> Here:
    return Here(
        "this", state, prev, after, operations.get("forward", "do"), operations.get("backward", "undo")
    )


TRANSITIONS = [
    # state, direction, how it ended, cancelled → state, direction, where to
    ("NOTYET", "FORWARD", Ended.SUCCESS, False, "SUCCESS", "FORWARD", "after"),
    ("NOTYET", "FORWARD", Ended.FAILED, False, "FAILED", "BACKWARD", "this"),
    ("NOTYET", "FORWARD", Ended.TIMEOUT, False, "TIMEOUT", "BACKWARD", "this"),
    ("NOTYET", "FORWARD", Ended.SUCCESS, True, "SUCCESS", "BACKWARD", "this"),
    ("NOTYET", "FORWARD", Ended.FAILED, True, "FAILED", "BACKWARD", "this"),
    ("SUCCESS", "BACKWARD", Ended.SUCCESS, False, "SUCCESS, CANCELED", "BACKWARD", "before"),
    ("SUCCESS", "BACKWARD", Ended.FAILED, False, "SUCCESS, FAILED", "BACKWARD", "before"),
    ("SUCCESS", "BACKWARD", Ended.TIMEOUT, False, "SUCCESS, FAILED", "BACKWARD", "before"),
    ("FAILED", "BACKWARD", Ended.SUCCESS, False, "FAILED, CANCELED", "BACKWARD", "before"),
    ("FAILED", "BACKWARD", Ended.FAILED, False, "FAILED, FAILED", "BACKWARD", "before"),
    ("TIMEOUT", "BACKWARD", Ended.SUCCESS, False, "TIMEOUT, CANCELED", "BACKWARD", "before"),
    ("TIMEOUT", "BACKWARD", Ended.FAILED, False, "TIMEOUT, FAILED", "BACKWARD", "before"),
    ("SUCCESS", "BACKWARD", Ended.SUCCESS, True, "SUCCESS, CANCELED", "BACKWARD", "before"),
    # Again by hand, after it failed.
    ("SUCCESS, FAILED", "BACKWARD", Ended.SUCCESS, False, "SUCCESS, FAILED, CANCELED", "BACKWARD", "before"),
]


@pytest.mark.parametrize(("state", "direction", "ended", "cancelled", "new", "turned", "to"), TRANSITIONS)
def test_an_operation_that_ended_leads_on(state, direction, ended, cancelled, new, turned, to):
    result = passed(here(state), direction, ended, cancelled=cancelled)
    assert (result.state, result.direction, result.to) == (new, turned, to)
    assert not result.is_over


def test_a_job_without_a_library_turns_the_walk_back_without_an_undo_of_its_own():
    result = passed_without_library(here("NOLIB"))
    assert (result.state, result.direction, result.to, result.is_over) == (
        "NOLIB",
        "BACKWARD",
        "before",
        False,
    )


def test_a_first_job_without_a_library_ends_the_walk():
    assert passed_without_library(here("NOLIB", prev="HEAD")).is_over


def test_success_of_the_last_job_ends_the_walk_forward():
    result = passed(here(after="TAIL"), "FORWARD", Ended.SUCCESS)
    assert (result.is_over, result.direction) == (True, "FORWARD")


def test_failure_of_the_last_job_does_not_end_the_walk():
    assert not passed(here(after="TAIL"), "FORWARD", Ended.FAILED).is_over


def test_a_cancel_as_the_last_job_succeeds_turns_the_walk_back():
    result = passed(here(after="TAIL"), "FORWARD", Ended.SUCCESS, cancelled=True)
    assert (result.is_over, result.direction, result.to) == (False, "BACKWARD", "this")


@pytest.mark.parametrize("ended", Ended)
def test_the_first_job_ends_the_walk_backward_however_its_undo_ended(ended):
    assert passed(here("SUCCESS", prev="HEAD"), "BACKWARD", ended).is_over


@pytest.mark.parametrize(("direction", "nothing"), [("FORWARD", "forward"), ("BACKWARD", "backward")])
def test_no_operation_has_nothing_to_run_in_its_own_direction_only(direction, nothing):
    job = here(**{nothing: "NO_OPERATION"})
    assert job.has_nothing_to_run(direction)
    assert not job.has_nothing_to_run("BACKWARD" if direction == "FORWARD" else "FORWARD")


@pytest.mark.parametrize(
    ("state", "failed"),
    [
        ("SUCCESS, FAILED", True),
        ("FAILED, FAILED", True),
        ("SUCCESS, FAILED, FAILED", True),
        ("FAILED", False),
        ("FAILED, CANCELED", False),
        ("SUCCESS, FAILED, CANCELED", False),
        ("NOTYET", False),
    ],
)
def test_an_undo_that_failed_is_read_from_the_end_of_the_state(state, failed):
    assert rollback_failed(state) is failed
