"""Rollback: cancelled runs, dead workers, retries of backward operations, and reruns by hand."""

from typing import Any

import pytest

from jobs import lifecycle as engine
from jobs.answers import Settlement
from jobs.errors import Conflict
from jobs.models import Execution
from scheduler.steps import lifecycle
from scheduler.steps.models import StepQueue
from tests.step_factories import (
    a_job,
    a_queue,
    claimed,
    completed,
    events,
    execution,
    fresh,
    run_operation,
    run_to_end,
    states,
    steps,
    trail,
)

pytestmark = pytest.mark.django_db


# --- cancel ---------------------------------------------------------------------------------------


def test_a_cancel_before_the_operation_is_claimed_rolls_back_at_once():
    queue = a_queue(a_job("a"), a_job("b"))
    lifecycle.run(queue.queue_id)
    run_operation(queue)
    lifecycle.cancel(queue.queue_id)
    now = fresh(queue)
    assert (now.operation_direction, now.running_job) == ("BACKWARD", str(steps(queue)[1].job_id))
    run_to_end(queue)
    assert states(queue) == ["SUCCESS, CANCELED", "FAILED, CANCELED"]
    assert steps(queue)[1].job_return["forward"]["failure_type"] == "cancelled"
    assert fresh(queue).context == {"notes": ["a FORWARD", "b BACKWARD", "a BACKWARD"]}


def test_a_cancel_while_the_operation_runs_rolls_back_as_it_ends():
    queue = a_queue(a_job("a"), a_job("b"))
    lifecycle.run(queue.queue_id)
    run = claimed(queue)
    lifecycle.cancel(queue.queue_id)
    assert Execution.objects.get(id=run.run.claim.execution_id).cancel_requested_at is not None
    run.perform()
    assert states(queue)[0] == "FAILED"
    run_to_end(queue)
    assert states(queue) == ["FAILED, CANCELED", "NOTYET"]


def test_a_cancel_between_two_operations_is_obeyed_at_the_next_end(monkeypatch):
    """Simulates a process that dies after it wrote the cancel request."""
    queue = a_queue(a_job("a"))
    lifecycle.run(queue.queue_id)
    monkeypatch.setattr(lifecycle, "stop_forward_operation", lambda _: None)
    lifecycle.cancel(queue.queue_id)
    run_operation(queue)
    assert (states(queue), fresh(queue).state) == (["SUCCESS"], "RUNNING")
    run_to_end(queue)
    assert (states(queue), fresh(queue).state) == (["SUCCESS, CANCELED"], "READY")


def test_a_cancel_is_refused_unless_the_run_goes_forward_and_only_once():
    queue = a_queue(a_job("a", "fail"))
    with pytest.raises(Conflict) as refused:
        lifecycle.cancel(queue.queue_id)
    assert refused.value.code == "nothing_to_cancel"
    lifecycle.run(queue.queue_id)
    run_operation(queue)
    assert fresh(queue).operation_direction == "BACKWARD"
    with pytest.raises(Conflict):
        lifecycle.cancel(queue.queue_id)
    queue = a_queue(a_job("a"))
    lifecycle.run(queue.queue_id)
    claimed(queue)
    lifecycle.cancel(queue.queue_id)
    with pytest.raises(Conflict):
        lifecycle.cancel(queue.queue_id)


def test_a_cancelled_queue_runs_again_normally():
    queue = a_queue(a_job("a"))
    lifecycle.run(queue.queue_id)
    lifecycle.cancel(queue.queue_id)
    run_to_end(queue)
    assert states(completed(queue)) == ["SUCCESS"]


def test_a_cancelled_execution_rolls_its_queue_back():
    queue = a_queue(a_job("a"), a_job("b", backward="succeed"))
    lifecycle.run(queue.queue_id)
    run_operation(queue)
    engine.cancel_execution(execution(queue).id)
    assert fresh(queue).operation_direction == "BACKWARD"
    # A cancelled rollback operation counts as not executed.
    engine.cancel_execution(execution(queue).id)
    run_to_end(queue)
    assert states(queue) == ["SUCCESS, CANCELED", "FAILED, FAILED"]


# --- a worker's death -----------------------------------------------------------------------------


def test_a_run_resumes_at_the_operation_whose_worker_died():
    queue = a_queue(a_job("a"), a_job("b"), a_job("c"))
    lifecycle.run(queue.queue_id)
    run_operation(queue)
    before = execution(queue)
    claimed(queue).lose()
    assert execution(queue).id == before.id
    assert states(queue) == ["SUCCESS", "NOTYET", "NOTYET"]
    run_to_end(queue)
    assert trail(queue) == [(0, "FORWARD"), (1, "FORWARD"), (2, "FORWARD")]
    assert Execution.objects.count() == 3


def test_a_stalled_worker_changes_nothing_once_another_worker_owns_its_operation():
    queue = a_queue(a_job("a"), a_job("b"))
    lifecycle.run(queue.queue_id)
    stalled = claimed(queue)
    stalled.lose()
    run_operation(queue)
    assert states(queue) == ["SUCCESS", "NOTYET"]
    stalled.perform()
    assert states(queue) == ["SUCCESS", "NOTYET"]
    assert fresh(queue).context == {"notes": ["a FORWARD"]}


def test_an_operation_that_kills_its_workers_fails_and_rolls_the_run_back():
    queue = a_queue(a_job("a"), a_job("b"))
    lifecycle.run(queue.queue_id)
    run_operation(queue)
    for _ in range(3):
        claimed(queue).lose()
    run_to_end(queue)
    assert states(queue) == ["SUCCESS, CANCELED", "FAILED, CANCELED"]
    assert steps(queue)[1].job_return["forward"]["failure_type"] == "poison"


def test_an_execution_that_the_queue_does_not_name_changes_nothing_as_it_ends():
    queue = a_queue(a_job("a"), a_job("b"))
    lifecycle.run(queue.queue_id)
    first = execution(queue)
    run_operation(queue)
    lifecycle.advance(Settlement(str(first.id), first.source, "FAILED", "error", "late"))
    assert (states(queue), fresh(queue).operation_direction) == (["SUCCESS", "NOTYET"], "FORWARD")


# --- undo operations have retries -----------------------------------------------------------------


def stubborn(failures: int) -> dict[str, Any]:
    return a_job(
        "b",
        "fail",
        backward_operation="undo_stubbornly",
        arguments={"tag": "b", "forward": "fail", "failures": failures},
    )


def test_a_forward_operation_is_never_retried():
    queue = completed(a_queue(a_job("a", "fail")))
    forward = Execution.objects.get(source__endswith="FORWARD")
    assert (forward.attempt, forward.max_retries, states(queue)) == (1, 0, ["FAILED, CANCELED"])


def test_a_backward_operation_is_retried_as_often_as_it_declares():
    queue = completed(a_queue(a_job("a"), stubborn(failures=2)))
    assert states(queue) == ["SUCCESS, CANCELED", "FAILED, CANCELED"]
    assert Execution.objects.get(args__operation="undo_stubbornly").attempt == 3
    assert [event.details["failure_type"] for event in events(queue, "step_retrying")] == ["error", "error"]
    assert not events(queue, "step_undo_failed")


def test_a_failed_backward_operation_is_reported_and_the_rollback_goes_on():
    queue = completed(a_queue(a_job("a"), stubborn(failures=3)))
    assert states(queue) == ["SUCCESS, CANCELED", "FAILED, FAILED"]
    (event,) = events(queue, "step_undo_failed")
    assert (event.details["operation"], event.details["number"]) == ("undo_stubbornly", 2)


def test_a_backward_operation_takes_its_retries_from_the_settings_by_default(settings):
    settings.DURE_STEP_BACKWARD_RETRIES = 7
    settings.DURE_STEP_BACKWARD_DELAY_SECONDS = 0.25
    queue = a_queue(a_job("a", "fail", backward_operation="sleep", arguments={"forward": "fail"}))
    lifecycle.run(queue.queue_id)
    run_operation(queue)
    undo = execution(queue)
    assert (undo.max_retries, undo.retry_base_delay_ms) == (7, 250)


# --- again by hand --------------------------------------------------------------------------------


def failed_queue() -> StepQueue:
    return completed(a_queue(a_job("a"), stubborn(failures=3), a_job("c")))


def test_a_failed_rollback_can_be_rerun_by_hand():
    queue = failed_queue()
    job = steps(queue)[1]
    lifecycle.rerun_backward(queue.queue_id, job.job_id)
    again = fresh(queue)
    assert (again.state, again.operation_direction) == ("RUNNING", "BACKWARD")
    assert again.running_job == str(job.job_id)
    assert again.context == queue.context
    # The backward operation that always fails fails three more times.
    run_to_end(queue)
    assert states(queue)[1] == "FAILED, FAILED, FAILED"
    type(job).objects.filter(pk=job.pk).update(arguments={"tag": "b", "forward": "fail", "failures": 0})
    lifecycle.rerun_backward(queue.queue_id, job.job_id)
    run_to_end(queue)
    after = fresh(queue)
    assert (after.state, after.again, after.run) == ("READY", False, 1)
    # Only that operation runs: the others were rolled back before.
    assert states(queue) == ["SUCCESS, CANCELED", "FAILED, FAILED, FAILED, CANCELED", "NOTYET"]
    assert [line["state"] for line in after.queue_return[-2:]] == [
        "FAILED, FAILED, FAILED",
        "FAILED, FAILED, FAILED, CANCELED",
    ]


def test_a_rerun_is_refused_unless_the_rollback_failed():
    queue = failed_queue()
    for job in (steps(queue)[0], steps(queue)[2]):
        with pytest.raises(Conflict) as refused:
            lifecycle.rerun_backward(queue.queue_id, job.job_id)
        assert refused.value.code == "not_failed"
    lifecycle.run(queue.queue_id)
    with pytest.raises(Conflict) as refused:
        lifecycle.rerun_backward(queue.queue_id, steps(queue)[1].job_id)
    assert refused.value.code == "queue_running"


def test_a_rerun_cannot_be_cancelled():
    queue = failed_queue()
    lifecycle.rerun_backward(queue.queue_id, steps(queue)[1].job_id)
    with pytest.raises(Conflict):
        lifecycle.cancel(queue.queue_id)
