"""Runs of step queues, with each operation executed by the real runner."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dure import step_operations
from jobs import catalogue
from jobs.models import Execution
from jobs.states import Trigger
from jobs.worker import catalogue as worker_catalogue
from scheduler.steps import lifecycle
from tests.step_factories import (
    a_job,
    a_queue,
    as_job,
    claimed,
    completed,
    execution,
    fresh,
    run_operation,
    run_to_end,
    states,
    steps,
    trail,
)
from tests.step_model import FAIL, NOTHING, SUCCEED, TIME_OUT, ModelJob, expected_run
from tests.step_operations import LIBRARY

pytestmark = pytest.mark.django_db


def test_jobs_succeed_in_order():
    queue = completed(a_queue(a_job("a"), a_job("b"), a_job("c")))
    assert (queue.state, queue.operation_direction) == ("READY", "FORWARD")
    assert queue.running_job == "QUEUE_NOT_RUNNING"
    assert states(queue) == ["SUCCESS"] * 3
    assert queue.context == {"notes": ["a FORWARD", "b FORWARD", "c FORWARD"]}
    assert [step.job_return for step in steps(queue)] == [
        {"forward": f"{tag} did", "backward": "UNINIT"} for tag in "abc"
    ]
    assert [line["return"] for line in queue.queue_return] == ["a did", "b did", "c did"]


def test_a_failure_rolls_back_from_the_failed_job_to_the_head():
    queue = completed(a_queue(a_job("a"), a_job("b", "fail"), a_job("c")))
    assert states(queue) == ["SUCCESS, CANCELED", "FAILED, CANCELED", "NOTYET"]
    assert queue.context == {"notes": ["a FORWARD", "b FORWARD", "b BACKWARD", "a BACKWARD"]}
    assert (queue.state, queue.operation_direction) == ("READY", "BACKWARD")
    failed = steps(queue)[1].job_return
    assert failed == {"forward": {"error": "b fails as asked", "failure_type": "error"}, "backward": "b did"}
    assert steps(queue)[2].job_return == "UNINIT"


def test_a_job_without_a_library_rolls_back_before_it_runs():
    queue = completed(a_queue(a_job("a", operation_library=LIBRARY), a_job("b"), queue_library="UNINIT"))
    assert states(queue) == ["SUCCESS, CANCELED", "NOLIB"]
    assert steps(queue)[1].job_return == "UNINIT"
    assert queue.context == {"notes": ["a FORWARD", "a BACKWARD"]}
    assert [line["state"] for line in queue.queue_return] == ["SUCCESS", "NOLIB", "SUCCESS, CANCELED"]


def test_a_queue_whose_first_job_has_no_library_is_ready_again_at_once():
    queue = a_queue(a_job(), queue_library="UNINIT")
    lifecycle.run(queue.queue_id)
    assert (fresh(queue).state, states(queue)) == ("READY", ["NOLIB"])
    assert not Execution.objects.exists()


def test_a_missing_operation_succeeds_without_an_execution():
    queue = a_queue(
        {}, a_job("b", "fail", backward_operation="NO_OPERATION", arguments={"forward": "fail"}), {}
    )
    queue = completed(queue)
    assert states(queue) == ["SUCCESS, CANCELED", "FAILED, CANCELED", "NOTYET"]
    assert steps(queue)[0].job_return == {"forward": "NO_OPERATION", "backward": "NO_OPERATION"}
    assert Execution.objects.count() == 1


def test_a_long_queue_without_operations_runs_in_one_transaction():
    queue = a_queue(*[{}] * 250, a_job("last", "fail"))
    queue = completed(queue)
    assert states(queue) == ["SUCCESS, CANCELED"] * 250 + ["FAILED, CANCELED"]
    assert trail(queue) == [(n, "FORWARD") for n in range(251)] + [
        (n, "BACKWARD") for n in range(250, -1, -1)
    ]


def test_a_second_run_begins_as_the_first_did():
    queue = completed(a_queue(a_job("a"), a_job("b", "fail")))
    lifecycle.run(queue.queue_id)
    again = fresh(queue)
    assert (again.run, again.state, again.operation_direction) == (2, "RUNNING", "FORWARD")
    assert (again.context, again.queue_return, states(queue)) == ({}, "UNINIT", ["NOTYET", "NOTYET"])
    assert [step.job_return for step in steps(queue)] == ["UNINIT", "UNINIT"]
    run_to_end(queue)
    assert states(queue) == ["SUCCESS, CANCELED", "FAILED, CANCELED"]


def test_a_running_queue_names_its_job_and_runs_its_operation_in_the_operations_role():
    queue = a_queue({"forward_operation": "put", "arguments": {"value": 1}, "expired_time": 7.5}, a_job("b"))
    lifecycle.run(queue.queue_id)
    first, second = steps(queue)
    current = execution(queue)
    assert fresh(queue).running_job == str(first.job_id)
    assert (current.trigger, current.role) == (Trigger.STEP, "QA")
    assert (current.timeout_ms, current.max_retries) == (7500, 0)
    assert current.source == f"{queue.queue_id}:{first.job_id}:FORWARD"
    run_operation(queue)
    assert fresh(queue).running_job == str(second.job_id)
    assert execution(queue).timeout_ms == 30_000


def test_an_ending_operation_starts_the_next_one_in_the_same_transaction(monkeypatch):
    queue = a_queue(a_job("a"), a_job("b"))
    lifecycle.run(queue.queue_id)
    run = claimed(queue)
    monkeypatch.setattr("scheduler.steps.runner.engine.start_executions", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run.perform()
    # The transaction was undone: the end of the Execution, the state and the context.
    assert (execution(queue).status, states(queue), fresh(queue).context) == ("RUNNING", ["NOTYET"] * 2, {})
    monkeypatch.undo()
    run.run.settled = False
    run.perform()
    assert states(queue) == ["SUCCESS", "NOTYET"]


def test_an_operation_that_is_no_longer_registered_counts_as_a_missing_library(monkeypatch):
    queue = a_queue(a_job("a"), a_job("b"))
    lifecycle.run(queue.queue_id)
    for name in ("do", "undo"):
        monkeypatch.delitem(step_operations._operations, (LIBRARY, name))
    run_to_end(queue)
    assert states(queue) == ["FAILED, FAILED", "NOTYET"]
    lifecycle.run(queue.queue_id)
    assert states(queue) == ["NOLIB", "NOTYET"]


def registered_by_a_worker():
    worker_catalogue.write("jobs@elsewhere", worker_catalogue.own_rows(["default"]))
    catalogue.forget()


def test_an_operation_that_only_another_worker_has_is_given_back(monkeypatch):
    queue = a_queue(a_job("a"), {"forward_operation": "nothing"})
    lifecycle.run(queue.queue_id)
    registered_by_a_worker()
    before = execution(queue)
    with monkeypatch.context() as patch:
        patch.delitem(step_operations._operations, (LIBRARY, "do"))
        run_operation(queue)
    after = execution(queue)
    assert (after.status, after.attempt, after.started_at) == ("PENDING", 0, None)
    assert (after.id, after.dispatch) == (before.id, before.dispatch + 1)
    assert not after.attempts.exists()
    run_to_end(queue)
    assert states(queue) == ["SUCCESS", "SUCCESS"]
    assert Execution.objects.get(id=before.id).attempt == 1


def test_an_operation_that_only_another_worker_has_can_be_cancelled(monkeypatch):
    queue = a_queue({"forward_operation": "do"})
    lifecycle.run(queue.queue_id)
    registered_by_a_worker()
    operation = claimed(queue)
    lifecycle.cancel(queue.queue_id)
    monkeypatch.delitem(step_operations._operations, (LIBRARY, "do"))
    operation.perform()
    assert fresh(queue).state == "READY"
    assert states(queue) == ["FAILED, CANCELED"]


@pytest.mark.parametrize("odd", ["set", ""])
def test_a_return_that_cannot_be_stored_fails_the_job(odd):
    queue = completed(a_queue({"forward_operation": "give", "arguments": {"odd": odd, "size": 300_000}}))
    assert states(queue) == ["FAILED, CANCELED"]
    assert "result" in steps(queue)[0].job_return["forward"]["error"]
    # Its earlier changes to the context are kept.
    assert queue.context == {"given": True}


def test_a_long_return_is_shortened_in_the_message_and_whole_in_the_job():
    queue = completed(a_queue(a_job("t" * 1000)))
    assert len(queue.queue_return[0]["return"]) == 200
    assert steps(queue)[0].job_return["forward"] == "t" * 1000 + " did"


models = st.lists(
    st.builds(
        ModelJob,
        forward=st.sampled_from([SUCCEED, SUCCEED, SUCCEED, SUCCEED, NOTHING, FAIL, TIME_OUT]),
        backward=st.sampled_from([NOTHING, SUCCEED, SUCCEED, FAIL, TIME_OUT]),
        has_library=st.sampled_from([True, True, True, True, True, False]),
    ),
    min_size=1,
    max_size=7,
)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(models, st.integers(1, 2))
def test_random_queues_run_as_the_specification_says(jobs, runs):
    queue = a_queue(*[as_job(number, job) for number, job in enumerate(jobs)], queue_library="UNINIT")
    expected = expected_run(jobs)
    for number in range(1, runs + 1):
        queue = completed(queue)
        assert (queue.state, queue.run, queue.operation_direction) == ("READY", number, expected.direction)
        assert states(queue) == expected.states
        assert trail(queue) == expected.trail
        really_run = [
            f"{place} {direction}"
            for place, direction in expected.trail
            if (jobs[place].forward if direction == "FORWARD" else jobs[place].backward) != NOTHING
        ]
        assert queue.context.get("notes", []) == really_run
