"""Resumed runs: forward again after a rollback, from the first job that has to run again."""

from typing import Any

import pytest

from jobs.errors import Conflict
from scheduler.steps import lifecycle, queues
from scheduler.steps.states import NO_OPERATION
from tests.step_factories import (
    a_job,
    a_queue,
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

NO_UNDO: dict[str, Any] = {"backward_operation": NO_OPERATION, "arguments": {"tag": "a"}}


def repair(queue, number, **arguments):
    """Let the operations of a job succeed from now on."""
    step = steps(queue)[number - 1]
    step.arguments = {"tag": step.arguments["tag"], **arguments}
    step.save(update_fields=["arguments"])


def resumed(queue):
    lifecycle.resume(queue.queue_id)
    run_to_end(queue)
    return fresh(queue)


def test_a_run_without_rollbacks_resumes_at_the_failed_job():
    queue = completed(a_queue(a_job("a", **NO_UNDO), a_job("b", "fail"), a_job("c")))
    assert states(queue) == ["SUCCESS, CANCELED", "FAILED, CANCELED", "NOTYET"]
    repair(queue, 2)
    after = resumed(queue)
    assert (after.state, after.operation_direction, after.run) == ("READY", "FORWARD", 1)
    assert states(queue) == ["SUCCESS", "SUCCESS", "SUCCESS"]
    assert trail(queue) == [(1, "FORWARD"), (2, "FORWARD")]
    # The context of the run goes on, with what the rollback did to it.
    assert after.context["notes"] == ["a FORWARD", "b FORWARD", "b BACKWARD", "b FORWARD", "c FORWARD"]
    assert steps(queue)[0].job_return == {"forward": "a did", "backward": "UNINIT"}
    assert steps(queue)[1].job_return == {"forward": "b did", "backward": "UNINIT"}


def test_jobs_that_were_rolled_back_run_again():
    queue = completed(a_queue(a_job("a", **NO_UNDO), a_job("b"), a_job("c", "fail"), a_job("d")))
    repair(queue, 3)
    resumed(queue)
    assert trail(queue) == [(1, "FORWARD"), (2, "FORWARD"), (3, "FORWARD")]


def test_a_job_behind_one_that_runs_again_runs_again_too():
    queue = completed(a_queue(a_job("a"), a_job("b", **NO_UNDO), a_job("c", "fail")))
    repair(queue, 3)
    resumed(queue)
    assert trail(queue) == [(0, "FORWARD"), (1, "FORWARD"), (2, "FORWARD")]


def test_a_resumed_run_has_the_keys_of_the_run_and_a_second_end():
    queue = completed(a_queue(a_job("a", "fail")))
    lifecycle.resume(queue.queue_id)
    assert execution(queue).source == f"{queue.queue_id}:{steps(queue)[0].job_id}:FORWARD"
    run_to_end(queue)
    kinds = [(event.type, event.run) for event in events(queue, "queue_resumed", "queue_finished")]
    assert kinds == [("queue_finished", 1), ("queue_resumed", 1), ("queue_finished", 1)]


def test_a_resumed_run_that_fails_rolls_back_the_jobs_that_it_kept_too():
    queue = completed(a_queue(a_job("a", **NO_UNDO), a_job("b", "fail")))
    after = resumed(queue)
    assert states(queue) == ["SUCCESS, CANCELED", "FAILED, CANCELED"]
    assert (after.state, after.operation_direction) == ("READY", "BACKWARD")


def test_a_failed_rollback_stays_on_record_until_its_job_runs_again():
    queue = completed(a_queue(a_job("a", "fail"), a_job("b", backward="fail"), a_job("c", "fail")))
    repair(queue, 1)
    queue = completed(queue)
    assert states(queue) == ["SUCCESS, CANCELED", "SUCCESS, FAILED", "FAILED, CANCELED"]
    repair(queue, 1, forward="fail")
    resumed(queue)
    # The run did not get to the second job: its rollback is still to be retried.
    assert states(queue) == ["FAILED, CANCELED", "SUCCESS, FAILED", "NOTYET"]
    lifecycle.rerun_backward(queue.queue_id, steps(queue)[1].job_id)
    run_to_end(queue)
    repair(queue, 1)
    lifecycle.resume(queue.queue_id)
    run_operation(queue)
    run_operation(queue)
    assert states(queue)[:2] == ["SUCCESS", "SUCCESS"]


def test_a_run_that_was_cancelled_can_be_resumed_and_cancelled_again():
    queue = a_queue(a_job("a"), a_job("b"))
    lifecycle.run(queue.queue_id)
    lifecycle.cancel(queue.queue_id)
    run_to_end(queue)
    lifecycle.resume(queue.queue_id)
    assert fresh(queue).cancel_requested_at is None
    run_operation(queue)
    lifecycle.cancel(queue.queue_id)
    run_to_end(queue)
    assert states(queue) == ["SUCCESS, CANCELED", "FAILED, CANCELED"]


def test_a_job_that_was_enqueued_after_the_rollback_runs_too():
    queue = completed(a_queue(a_job("a", "fail")))
    repair(queue, 1)
    queues.enqueue(queue.queue_id, a_job("b"))
    resumed(queue)
    assert states(queue) == ["SUCCESS", "SUCCESS"]


@pytest.mark.parametrize("jobs", [[], [a_job("a")]])
def test_a_queue_that_has_not_rolled_back_is_not_resumed(jobs):
    queue = a_queue(*jobs)
    for _ in jobs:
        completed(queue)
    with pytest.raises(Conflict) as refused:
        lifecycle.resume(queue.queue_id)
    assert refused.value.code == "nothing_to_resume"


def test_a_run_whose_jobs_all_count_is_not_resumed(monkeypatch):
    """It was cancelled as its last operation succeeded."""
    queue = a_queue(a_job("a", **NO_UNDO))
    lifecycle.run(queue.queue_id)
    monkeypatch.setattr(lifecycle, "stop_forward_operation", lambda _: None)
    lifecycle.cancel(queue.queue_id)
    run_to_end(queue)
    assert states(queue) == ["SUCCESS, CANCELED"]
    with pytest.raises(Conflict) as refused:
        lifecycle.resume(queue.queue_id)
    assert refused.value.code == "nothing_to_resume"


def test_a_running_queue_is_not_resumed():
    queue = completed(a_queue(a_job("a", "fail")))
    lifecycle.resume(queue.queue_id)
    with pytest.raises(Conflict) as refused:
        lifecycle.resume(queue.queue_id)
    assert refused.value.code == "queue_running"
