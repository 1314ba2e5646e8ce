"""Signals that come too late for a run do not reach the one that follows it in its process."""

import signal
import threading

import pytest
from celery import current_app
from celery.exceptions import SoftTimeLimitExceeded

from jobs import burst, deadline, lifecycle, runner
from jobs.states import ExecutionStatus, JobStatus
from tests.engine_workers import outcomes
from tests.factories import NEXT_CLAIM, an_office, fresh, running, submitted

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=deadline.SIGNALS, ids=lambda number: number.name)
def interrupting(request, monkeypatch):
    """Each finish that is committed is followed by the signal that interrupts a run."""

    finish = lifecycle.finish

    def finish_and_interrupt(*args, **details):
        settlement = finish(*args, **details)
        # To this thread: threads of earlier tests, which do not block it, could take one to the process.
        signal.pthread_kill(threading.get_ident(), request.param)
        return settlement

    before = signal.signal(request.param, deadline._interrupt)
    monkeypatch.setattr(lifecycle, "finish", finish_and_interrupt)
    yield
    deadline.drop_signals()
    deadline.resume_signals()
    signal.signal(request.param, before)


def pending_signals():
    return deadline.SIGNALS & (signal.sigpending() | signal.pthread_sigmask(signal.SIG_BLOCK, ()))


@pytest.fixture
def celery_task():
    """The Task of `submitted`, as a worker runs it."""
    current_app.loader.import_default_modules()
    celery_task = current_app.tasks["demo.sum"]
    celery_task.push_request(id="message", hostname="w@test")
    yield celery_task
    celery_task.pop_request()
    deadline.resume_signals()


def run_interrupted(celery_task, execution):
    with pytest.raises(SoftTimeLimitExceeded) as stopped:
        runner.run(celery_task, str(execution.id), execution.dispatch)
    celery_task.on_failure(stopped.value, "message", (), {}, None)


def test_a_signal_after_a_claim_does_not_leave_the_run_without_an_end(celery_task, monkeypatch):
    (job,) = submitted(an_office(), {})
    claim, tokens = lifecycle.claim, []

    def claim_and_interrupt(*args, **values):
        answer = claim(*args, **values)
        tokens.append(values["token"])
        if len(tokens) == 1:
            raise SoftTimeLimitExceeded()
        return answer

    monkeypatch.setattr(lifecycle, "claim", claim_and_interrupt)
    run_interrupted(celery_task, fresh(job).execution)
    assert tokens[0] == tokens[1], "the second call answers what the first has written"
    assert outcomes(job) == [("lost", "worker_lost")]
    assert fresh(job).execution.status == ExecutionStatus.PENDING


def test_a_signal_while_a_message_waits_for_a_core_ends_the_wait_and_not_the_run(celery_task, monkeypatch):
    (job,) = submitted(an_office(), {})
    waits = []

    def wait_and_be_interrupted():
        waits.append(fresh(job).execution.status)
        raise SoftTimeLimitExceeded()

    monkeypatch.setattr(burst, "wait_for_core", wait_and_be_interrupted)
    execution = fresh(job).execution
    runner.run(celery_task, str(execution.id), execution.dispatch)
    assert waits == [ExecutionStatus.PENDING], "before the claim, and once"
    assert fresh(job).status == JobStatus.DONE


def test_a_run_that_was_brought_along_waits_for_no_core(celery_task, monkeypatch):
    (job,) = submitted(an_office(), {})
    execution = fresh(job).execution
    claim = lifecycle.claim(str(execution.id), execution.dispatch, token="message:1", worker="w@test")
    current = burst.Burst("message", "w@test", ["default"], 0.0, claim=claim)
    monkeypatch.setattr(burst, "_current", current)
    monkeypatch.setattr(burst, "wait_for_core", lambda: pytest.fail("it waits"))
    runner.run(celery_task, str(execution.id), execution.dispatch)
    assert fresh(job).status == JobStatus.DONE


def test_a_signal_after_the_end_of_a_run_is_dropped(interrupting):
    (job,) = submitted(an_office(), {})
    assert runner.settle_success(runner.Run(running(job).claim), "null").state == "SUCCESS"
    assert fresh(job).status == JobStatus.DONE
    assert not pending_signals(), "the next message of this process may be interrupted again"


def test_a_signal_after_the_end_of_a_run_does_not_lose_the_one_that_it_brought_along(
    interrupting, monkeypatch
):
    first, second = submitted(an_office(max_concurrent_jobs=1), {}, {})
    current = burst.Burst("message", "w@test", ["default"], float("inf"))
    monkeypatch.setattr(burst, "_current", current)
    monkeypatch.setattr(burst, "next_claim", lambda: NEXT_CLAIM)
    runner.settle_success(runner.Run(running(first).claim), "null")
    assert current.next_run is not None
    assert fresh(second).execution.status == "RUNNING"
    assert pending_signals() == deadline.SIGNALS, "held until the next run has begun"
