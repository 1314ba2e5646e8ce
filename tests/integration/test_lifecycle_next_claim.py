"""finish with `next_claim`: the same call claims a job that it has sent, unless something forbids it."""

import dataclasses

import pytest
from django.db import transaction

from jobs import lifecycle
from jobs.sql import call
from jobs.states import ExecutionStatus, JobStatus
from tests.events import T, event_types
from tests.factories import NEXT_CLAIM, Claimed, an_office, claimed, expire_lease, fresh, running, submitted
from tests.workers import eventually

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unsent")]


@pytest.fixture
def unsent(monkeypatch):
    monkeypatch.setattr("jobs.publish.send_messages", lambda *_: True)


def two(**second):
    """Two jobs of an office with one slot: the finish of the first sends the second."""
    return submitted(an_office(max_concurrent_jobs=1), {}, second)


def finish_of(job, next_claim=NEXT_CLAIM):
    return running(job).finish(next_claim=next_claim)


def test_a_finish_claims_the_job_that_it_sends():
    first, second = two()
    settlement = finish_of(first)
    task_id, claim = settlement.next_run
    run = fresh(second).execution
    assert (task_id, claim.execution_id, claim.fence) == ("demo.sum", str(run.id), run.fence)
    assert (run.status, run.token, run.worker, run.attempt) == ("RUNNING", "message:1", "w@test", 1)
    assert settlement.effects.send == [], "it needs no message"
    assert event_types(second) == [T.JOB_READY, T.JOB_STARTED]
    assert (fresh(first).status, fresh(second).status) == (JobStatus.DONE, JobStatus.PROCESSING)


@pytest.mark.parametrize(
    ("second", "next_claim"),
    [
        ({"role": "QA"}, NEXT_CLAIM),
        ({}, dataclasses.replace(NEXT_CLAIM, roles=[])),
        ({}, dataclasses.replace(NEXT_CLAIM, level=-1)),
    ],
    ids=["of another role", "without roles", "less urgent than what waits"],
)
def test_a_job_is_sent_and_not_claimed(second, next_claim):
    first, second = two(**second)
    settlement = finish_of(first, next_claim)
    assert settlement.next_run is None
    assert [send.execution for send in settlement.effects.send] == [str(fresh(second).execution_id)]
    assert fresh(second).execution.status == ExecutionStatus.PENDING


def let_messages_be_new():
    """However slow the test is, none that waits now has waited for long."""
    call.change("UPDATE job_executions SET sent_at = now() + interval '1 hour' WHERE status = 'PENDING'")


def test_nothing_is_claimed_while_a_message_of_any_office_has_waited_for_long():
    (other,) = submitted(an_office(), {})
    first, _ = two()
    call.change(
        "UPDATE job_executions SET sent_at = sent_at - interval '1 second' WHERE job_id = %s", [other.id]
    )
    assert finish_of(first).next_run is None
    third, _ = two()
    assert finish_of(third, dataclasses.replace(NEXT_CLAIM, yields=False)).next_run is not None
    assert claimed(other) is not None
    let_messages_be_new()
    fourth, _ = two()
    assert finish_of(fourth).next_run is not None


@pytest.mark.parametrize(("waited", "claims"), [(2, True), (4, False)])
def test_messages_of_the_same_office_may_wait_longer(waited, claims):
    def look():
        """Whether a finish claims beside a message that has waited for so many seconds; None if for more."""
        let_messages_be_new()
        first, second, _ = submitted(an_office(max_concurrent_jobs=2), {}, {}, {})
        call.change(
            "UPDATE job_executions SET sent_at = clock_timestamp() - %s * interval '1 s' WHERE job_id = %s",
            [waited, second.id],
        )
        has_claimed = finish_of(first).next_run is not None
        ((in_time,),) = call.rows(
            "SELECT sent_at > clock_timestamp() - %s * interval '1 s' FROM job_executions WHERE job_id = %s",
            [waited + 1, second.id],
        )
        return [has_claimed] if in_time else None

    assert eventually(look) == [claims]


def test_a_finish_whose_answer_was_lost_names_again_what_it_has_claimed():
    first, _ = two()
    run = running(first)
    settlement = run.finish(next_claim=NEXT_CLAIM)
    again = run.finish(next_claim=NEXT_CLAIM)
    assert (again.state, again.next_run) == (ExecutionStatus.SUCCESS, settlement.next_run)


def lose_lease(claim):
    expire_lease(claim.execution_id)


def end(claim):
    Claimed(claim).finish()


@pytest.mark.parametrize(
    ("happen", "next_claim"),
    [
        (None, None),
        (None, dataclasses.replace(NEXT_CLAIM, token="message:2")),
        (None, dataclasses.replace(NEXT_CLAIM, worker="other@test")),
        (lose_lease, NEXT_CLAIM),
        (end, NEXT_CLAIM),
    ],
    ids=["no burst", "of another token", "of another worker", "its lease has expired", "ended"],
)
def test_a_second_finish_names_nothing_that_its_process_does_not_run(happen, next_claim):
    first, _ = two()
    run = running(first)
    next_run = run.finish(next_claim=NEXT_CLAIM).next_run
    assert next_run is not None
    if happen is not None:
        happen(next_run[1])
    assert run.finish(next_claim=next_claim) is None


def test_a_finish_that_is_fenced_claims_nothing():
    first, second = two()
    run = running(first)
    assert run.lose() is not None
    assert run.finish(next_claim=NEXT_CLAIM) is None
    assert fresh(second).execution is None


def test_a_finish_within_a_transaction_claims_nothing():
    first, second = two()
    run = running(first)
    with transaction.atomic():
        assert (
            lifecycle.finish(
                run.execution, run.fence, "success", trigger="JOB", result="null", next_claim=NEXT_CLAIM
            ).next_run
            is None
        )
    assert fresh(second).execution.status == ExecutionStatus.PENDING
