"""claim: PENDING → RUNNING for the current message only; other messages are dropped."""

import time

import pytest
from django.conf import settings
from django.utils import timezone

from jobs import lifecycle
from jobs.errors import Fenced
from jobs.ids import uuid7
from jobs.models import Execution
from jobs.states import ExecutionStatus
from tests.events import T, details, event_types
from tests.factories import (
    a_job,
    a_start,
    an_office,
    claimed,
    claimed_start,
    expire_lease,
    fresh,
    running_start,
)

pytestmark = pytest.mark.django_db


def run_of(job):
    return fresh(job).execution


def test_a_claim_makes_its_worker_the_owner_under_a_lease():
    job = a_job(an_office(), timeout_ms=5_000)
    run = claimed(job, worker="w@here", token="t1")
    row = run_of(job)
    assert (row.status, row.worker, row.token, row.attempt) == (ExecutionStatus.RUNNING, "w@here", "t1", 1)
    assert row.fence == run.fence > 0
    lease = (row.locked_until - row.attempt_started_at).total_seconds()
    assert lease == pytest.approx(settings.DURE_LEASE_SECONDS, abs=1)
    assert (row.timeout_at - row.attempt_started_at).total_seconds() == pytest.approx(5)
    assert event_types(job) == [T.JOB_READY, T.JOB_STARTED]
    assert details(job, T.JOB_STARTED) == {
        "execution_id": str(row.id),
        "attempt": 1,
        "fence": run.fence,
        "worker": "w@here",
    }


def test_a_claim_answers_all_that_a_run_needs():
    job = a_job(an_office(), args={"numbers": [1, 2.5]}, retry_backoff="linear", retry_base_delay=70)
    row = claimed(job).claim
    assert row.args == {"numbers": [1, 2.5]}
    assert (row.attempt, row.retry_count, row.trigger, row.source) == (1, 0, "JOB", "")
    assert (row.retry_backoff, row.retry_base_delay_ms) == ("linear", 70)
    assert row.deadline.timestamp() > time.time()


def test_a_second_message_of_the_same_dispatch_finds_nothing():
    job = a_job(an_office())
    first = claimed(job, token="one")
    assert claimed(job, token="two") is None
    assert (run_of(job).token, run_of(job).fence) == ("one", first.fence)
    assert event_types(job).count(T.JOB_STARTED) == 1


def test_a_second_claim_with_the_same_token_answers_the_same():
    job = a_job(an_office())
    first, again = claimed(job, token="one"), claimed(job, token="one")
    assert again.claim == first.claim
    assert event_types(job).count(T.JOB_STARTED) == 1


def test_the_same_token_from_another_worker_is_another_claim():
    job = a_job(an_office())
    claimed(job, token="one", worker="a@test")
    assert claimed(job, token="one", worker="b@test") is None


@pytest.mark.parametrize("dispatch", [0, 2, -1])
def test_a_message_of_another_dispatch_finds_nothing(dispatch):
    assert claimed_start(a_job(an_office()).execution_id, dispatch) is None


def test_an_execution_that_does_not_exist_cannot_be_claimed():
    assert claimed_start(uuid7()) is None


def test_an_ended_run_cannot_be_claimed():
    job = a_job(an_office())
    claimed(job).finish()
    assert claimed(job, token="other") is None
    assert claimed(job) is None


def test_a_run_that_waits_for_its_retry_cannot_be_claimed_by_an_old_message():
    job = a_job(an_office())
    claimed(job).fail(delay_ms=60_000)
    assert claimed(job, token="late") is None


def test_a_cancelled_run_cannot_be_claimed():
    job = a_job(an_office())
    lifecycle.cancel(job.office_id, [job.id], actor="me")
    assert claimed(job) is None


def test_fences_only_grow():
    job = a_job(an_office())
    fences = []
    for token in "abc":
        run = claimed(job, token=token)
        fences.append(run.fence)
        if token != "c":
            run.lose()
    assert fences == sorted(set(fences))


def test_progress_comes_from_the_owner_only_and_restarts_with_each_attempt():
    job = a_job(an_office())
    run = claimed(job)
    lifecycle.progress(run.execution, run.fence, 0.5, "half")
    assert run_of(job).progress == {"fraction": 0.5, "message": "half"}
    with pytest.raises(Fenced):
        lifecycle.progress(run.execution, run.fence - 1, 0.9, "not mine")
    run.lose()
    with pytest.raises(Fenced):
        lifecycle.progress(run.execution, run.fence, 0.9, "not mine any more")
    claimed(job, token="next")
    assert run_of(job).progress is None


def test_progress_under_a_lease_that_ran_out_is_refused():
    run = claimed(a_job(an_office()))
    expire_lease(run.execution)
    with pytest.raises(Fenced):
        lifecycle.progress(run.execution, run.fence, 0.5, "late")
    with pytest.raises(Fenced):
        lifecycle.name_session(run.execution, run.fence, "late")


def test_an_execution_that_no_job_owns_is_claimed_once():
    run = running_start(source="schedule-1")
    assert run.claim.source == "schedule-1"
    assert Execution.objects.get(id=run.execution).status == ExecutionStatus.RUNNING
    assert claimed_start(run.execution, token="other") is None


def test_an_execution_that_is_due_later_cannot_be_claimed_before():
    execution = a_start(due_at=timezone.now())
    assert claimed_start(execution) is None
    assert lifecycle.send_due(timezone.now()) == 1
    assert claimed_start(execution, 2) is not None
