"""Every transition of a run, one row each."""

import pytest

from scheduler.steps.states import rollback_failed
from scheduler.steps.transitions import OperationOutcome, StepNode, after_missing_library, after_operation


def node(state: str = "NOTYET", prev: str = "before", after: str = "after", **operations: str) -> StepNode:
    return StepNode(
        "this", state, prev, after, operations.get("forward", "do"), operations.get("backward", "undo")
    )


TRANSITIONS = [
    # state, direction, outcome, cancelled → state, direction, next job
    ("NOTYET", "FORWARD", OperationOutcome.SUCCESS, False, "SUCCESS", "FORWARD", "after"),
    ("NOTYET", "FORWARD", OperationOutcome.FAILED, False, "FAILED", "BACKWARD", "this"),
    ("NOTYET", "FORWARD", OperationOutcome.TIMEOUT, False, "TIMEOUT", "BACKWARD", "this"),
    ("NOTYET", "FORWARD", OperationOutcome.SUCCESS, True, "SUCCESS", "BACKWARD", "this"),
    ("NOTYET", "FORWARD", OperationOutcome.FAILED, True, "FAILED", "BACKWARD", "this"),
    ("SUCCESS", "BACKWARD", OperationOutcome.SUCCESS, False, "SUCCESS, CANCELED", "BACKWARD", "before"),
    ("SUCCESS", "BACKWARD", OperationOutcome.FAILED, False, "SUCCESS, FAILED", "BACKWARD", "before"),
    ("SUCCESS", "BACKWARD", OperationOutcome.TIMEOUT, False, "SUCCESS, FAILED", "BACKWARD", "before"),
    ("FAILED", "BACKWARD", OperationOutcome.SUCCESS, False, "FAILED, CANCELED", "BACKWARD", "before"),
    ("FAILED", "BACKWARD", OperationOutcome.FAILED, False, "FAILED, FAILED", "BACKWARD", "before"),
    ("TIMEOUT", "BACKWARD", OperationOutcome.SUCCESS, False, "TIMEOUT, CANCELED", "BACKWARD", "before"),
    ("TIMEOUT", "BACKWARD", OperationOutcome.FAILED, False, "TIMEOUT, FAILED", "BACKWARD", "before"),
    ("SUCCESS", "BACKWARD", OperationOutcome.SUCCESS, True, "SUCCESS, CANCELED", "BACKWARD", "before"),
    # A rerun by hand.
    (
        "SUCCESS, FAILED",
        "BACKWARD",
        OperationOutcome.SUCCESS,
        False,
        "SUCCESS, FAILED, CANCELED",
        "BACKWARD",
        "before",
    ),
]


@pytest.mark.parametrize(
    ("state", "direction", "outcome", "cancelled", "new", "new_direction", "next_job"), TRANSITIONS
)
def test_an_operations_outcome_decides_state_direction_and_next_job(
    state, direction, outcome, cancelled, new, new_direction, next_job
):
    result = after_operation(node(state), direction, outcome, cancelled=cancelled)
    assert (result.state, result.direction, result.next_job) == (new, new_direction, next_job)
    assert not result.ends_run


def test_a_job_without_a_library_rolls_the_run_back_from_the_job_before():
    result = after_missing_library(node("NOLIB"))
    assert (result.state, result.direction, result.next_job, result.ends_run) == (
        "NOLIB",
        "BACKWARD",
        "before",
        False,
    )


def test_a_first_job_without_a_library_ends_the_run():
    assert after_missing_library(node("NOLIB", prev="HEAD")).ends_run


def test_the_last_jobs_success_ends_the_run_forward():
    result = after_operation(node(after="TAIL"), "FORWARD", OperationOutcome.SUCCESS)
    assert (result.ends_run, result.direction) == (True, "FORWARD")


def test_the_last_jobs_failure_does_not_end_the_run():
    assert not after_operation(node(after="TAIL"), "FORWARD", OperationOutcome.FAILED).ends_run


def test_a_cancel_as_the_last_job_succeeds_rolls_the_run_back():
    result = after_operation(node(after="TAIL"), "FORWARD", OperationOutcome.SUCCESS, cancelled=True)
    assert (result.ends_run, result.direction, result.next_job) == (False, "BACKWARD", "this")


@pytest.mark.parametrize("outcome", OperationOutcome)
def test_the_first_jobs_backward_operation_ends_the_run_whatever_its_outcome(outcome):
    assert after_operation(node("SUCCESS", prev="HEAD"), "BACKWARD", outcome).ends_run


@pytest.mark.parametrize(("direction", "missing"), [("FORWARD", "forward"), ("BACKWARD", "backward")])
def test_a_missing_operation_is_skipped_in_its_own_direction_only(direction, missing):
    job = node(**{missing: "NO_OPERATION"})
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
def test_a_failed_rollback_is_read_from_the_end_of_the_state(state, failed):
    assert rollback_failed(state) is failed
