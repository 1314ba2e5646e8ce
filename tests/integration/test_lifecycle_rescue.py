"""rescue: runs with an expired lease start again or end; runs with a valid lease are unchanged."""

import pytest

from dure.failures import FailureType
from jobs import lifecycle, sweeps
from jobs.models import Attempt, Execution
from jobs.sql import call, statements
from jobs.states import ExecutionStatus, JobStatus, Trigger
from tests.events import T, details, event_types
from tests.factories import a_job, a_start, an_office, claimed, expire_lease, fresh

pytestmark = pytest.mark.django_db


def renewed(run, worker="w@test", dispatch=1, lease="30 seconds", grace="10 seconds"):
    ((_, _, verdict),) = call.rows(statements.RENEW, [worker, [run.execution], [dispatch], lease, grace])
    return verdict


def test_a_valid_lease_is_not_rescued():
    job = a_job(an_office())
    claimed(job)
    assert lifecycle.rescue() == 0
    assert fresh(job).execution.status == ExecutionStatus.RUNNING


def test_a_run_whose_lease_ran_out_starts_again_elsewhere():
    job = a_job(an_office())
    run = claimed(job, worker="gone@test")
    expire_lease(run.execution)
    assert lifecycle.rescue() == 1
    job = fresh(job)
    assert (job.status, job.execution.status, job.execution.dispatch) == ("processing", "PENDING", 2)
    assert (job.execution.crash_count, job.execution.locked_until) == (1, None)
    assert "gone@test" in Attempt.objects.get(execution=job.execution).error
    assert event_types(job)[-1] == T.JOB_RETRYING
    assert details(job, T.JOB_RETRYING)["failure_type"] == FailureType.WORKER_LOST
    assert lifecycle.rescue() == 0
    assert run.finish() is None


def test_the_third_rescue_is_poison_and_is_counted():
    job = a_job(an_office())
    for token in "abc":
        expire_lease(claimed(job, token=token).execution)
        lifecycle.rescue()
    assert (fresh(job).status, fresh(job).failure_type) == (JobStatus.FAILED, FailureType.POISON)


def test_an_execution_that_no_job_owns_is_rescued_too():
    execution = str(a_start(max_retries=0))
    lifecycle.claim(execution, 1, token="t", worker="w")
    expire_lease(execution)
    assert lifecycle.rescue() == 1
    run = Execution.objects.get(id=execution)
    assert (run.status, run.dispatch, run.trigger) == (
        "PENDING",
        2,
        Trigger.MANUAL,
    )


def test_a_renewal_extends_what_its_worker_runs():
    run = claimed(a_job(an_office()))
    before = Execution.objects.get(id=run.execution).locked_until
    assert renewed(run, lease="90 seconds") == "kept"
    assert (Execution.objects.get(id=run.execution).locked_until - before).total_seconds() > 50


def test_a_renewal_does_not_revive_a_lease_that_ran_out():
    run = claimed(a_job(an_office()))
    expire_lease(run.execution)
    before = Execution.objects.get(id=run.execution).locked_until
    assert renewed(run) == "over"
    assert Execution.objects.get(id=run.execution).locked_until == before


def test_a_renewal_answers_a_verdict_for_each_run():
    run = claimed(a_job(an_office()))
    assert renewed(run, worker="other@test") == "over"
    assert renewed(run, dispatch=2) == "over"
    lifecycle.cancel(fresh_office(run), [job_of(run)], actor="me")
    assert renewed(run) == "cancel"
    run.finish()
    assert renewed(run) == "over"


def test_a_renewal_answers_waiting_for_a_message_that_was_not_claimed():
    job = a_job(an_office())
    ((_, _, verdict),) = call.rows(statements.RENEW, ["w", [str(job.execution_id)], [1], "30 s", "10 s"])
    assert verdict == "waiting"


def test_a_renewal_answers_late_after_the_time_limit_and_grace():
    run = claimed(a_job(an_office()))
    call.change(
        "UPDATE job_executions SET timeout_at = now() - interval '11 seconds' WHERE id = %s", [run.execution]
    )
    assert renewed(run) == "late"


def test_a_sweep_runs_every_pass(settings):
    settings.DURE_REPUBLISH_SECONDS = 0.0
    run = claimed(a_job(an_office()))
    expire_lease(run.execution)
    done = sweeps.sweep_once()
    assert done["rescued"] == 1
    assert sweeps.sweep_once()["rescued"] == 0


def job_of(run):
    return Execution.objects.get(id=run.execution).job_id


def fresh_office(run):
    return Execution.objects.get(id=run.execution).office_id
