"""dure.testing: an operation of a step queue in a test runs as a worker would run it."""

from typing import Annotated, Any

import pytest
from pydantic import Field

from dure import InvalidArgs, StepRun, Stopped, TaskFailure, operation
from dure.testing import FakeStepRun, run_operation

volumes: dict[str, int] = {}


@pytest.fixture(autouse=True)
def no_volumes():
    volumes.clear()


@operation(library="sdk_operations")
def create(step: StepRun, gigabytes: Annotated[int, Field(ge=1)] = 20, fails: bool = False) -> dict[str, str]:
    """Creates a volume."""
    step.context["volume"] = step.key
    step.progress(0.5, "half of it")
    step.logger.info("%s GB", gigabytes)
    volumes.setdefault(step.key, gigabytes)
    if fails:
        raise TaskFailure("The disk is full.")
    step.progress(1.0)
    return {"volume": step.key}


@operation(library="sdk_operations", max_retries=1)
def delete(step: StepRun, refuses: bool = False) -> bool:
    if refuses:
        raise InvalidArgs("No.") if step.attempt > 2 else TaskFailure("Not now.")
    step.context.pop("volume", None)
    return volumes.pop(step.key, None) is not None


@operation(library="sdk_operations")
def leave(step: StepRun, odd: str = "", fails: bool = False) -> None:
    odds: dict[str, Any] = {"set": {1}, "tuple": (1,), "large": "x" * 300_000, "": 1}
    step.context["odd"] = odds[odd]
    if fails:
        raise TaskFailure("as asked")


def test_an_operation_has_its_return_its_context_and_what_it_reported():
    step = FakeStepRun(key="7-1-a", context={"machine": "m"})
    attempt = run_operation(create, step, gigabytes=40)
    assert (attempt.outcome, attempt.state, attempt.result) == ("success", "SUCCESS", {"volume": "7-1-a"})
    assert attempt.context == step.context == {"machine": "m", "volume": "7-1-a"}
    assert attempt.progress == [(0.5, "half of it"), (1.0, "")]
    assert attempt.messages == ["40 GB"]
    assert volumes == {"7-1-a": 40}


def test_the_backward_operation_has_the_key_the_context_and_the_arguments_of_the_job():
    step, arguments = FakeStepRun(), {"gigabytes": 40, "refuses": False}
    run_operation(create, step, **arguments)
    backward = step.backward()
    attempt = run_operation(delete, backward, **arguments)
    assert (attempt.state, attempt.result, attempt.context, backward.context) == ("CANCELED", True, {}, {})
    assert run_operation(delete, backward, **arguments).result is False
    assert backward.attempt == 2


def test_a_failure_forward_rolls_back_and_keeps_what_was_noted():
    attempt = run_operation(create, fails=True)
    assert (attempt.outcome, attempt.state, attempt.is_retried) == ("failure", "FAILED", False)
    assert attempt.error_message == "The disk is full."
    assert list(attempt.context) == ["volume"]
    with pytest.raises(TaskFailure):
        _ = attempt.result


def test_a_failure_backward_is_retried_as_often_as_the_operation_says():
    step = FakeStepRun().backward()
    attempts = [run_operation(delete, step, refuses=True) for _ in range(3)]
    assert [attempt.state for attempt in attempts] == ["FAILED"] * 3
    assert [attempt.is_retried for attempt in attempts] == [True, False, False]
    assert attempts[2].failure_type == "invalid_args"


def test_a_time_limit_and_a_cancel_are_failures():
    timeout = run_operation(create, FakeStepRun(timeout_at=1))
    assert (timeout.outcome, timeout.state, timeout.failure_type) == ("timeout", "TIMEOUT", "timeout")
    assert isinstance(timeout.error, Stopped)
    cancelled = run_operation(create, FakeStepRun(cancel_at=1))
    assert (cancelled.outcome, cancelled.state, cancelled.failure_type) == (
        "cancelled",
        "FAILED",
        "cancelled",
    )
    backward = run_operation(create, FakeStepRun(direction="BACKWARD", timeout_at=1))
    assert (backward.state, backward.is_retried) == ("FAILED", True)


@pytest.mark.parametrize("arguments", [{"gigabytes": 0}, {"gigabytes": "x"}])
def test_arguments_that_do_not_fit_fail(arguments):
    attempt = run_operation(create, **arguments)
    assert (attempt.state, attempt.failure_type) == ("FAILED", "invalid_args")
    assert attempt.error_message.startswith("gigabytes: ")


@pytest.mark.parametrize(
    ("odd", "problem"), [("set", "not JSON"), ("tuple", "holds a tuple"), ("large", "300,0")]
)
def test_a_context_that_cannot_be_stored_fails_and_stays_as_it_was(odd, problem):
    attempt = run_operation(leave, FakeStepRun(context={"before": 1}), odd=odd)
    assert (attempt.state, attempt.failure_type) == ("FAILED", "invalid_args")
    assert problem in attempt.error_message
    assert attempt.context == {"before": 1}


def test_the_error_of_a_failed_operation_is_told_and_not_that_of_its_context():
    attempt = run_operation(leave, odd="set", fails=True)
    assert (attempt.error_message, attempt.context) == ("as asked", {})
    assert "stays as it was" in attempt.messages[0]


def test_a_function_that_is_no_operation_is_refused():
    with pytest.raises(LookupError, match="is no operation"):
        run_operation(no_volumes)
