"""rescue: runs with an expired lease start again or end; runs with a valid lease are unchanged."""

import pytest

from dure.failures import FailureType
from jobs import lifecycle
from jobs.models import Attempt, Execution
from jobs.sql import call, statements
from jobs.states import ExecutionStatus, Trigger
from tests.events import T, details, event_types
from tests.factories import a_job, an_office, claimed, expire_lease, fresh, running_start

pytestmark = pytest.mark.django_db


def renewed(execution, worker="w@test", dispatch=1, lease="30 seconds"):
    values = [worker, [str(execution)], [dispatch], lease, "10 seconds"]
    ((_, _, verdict),) = call.rows(statements.RENEW, values)
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


def test_an_execution_that_no_job_owns_is_rescued_too():
    claim = running_start(max_retries=0)
    expire_lease(claim.execution)
    assert lifecycle.rescue() == 1
    run = Execution.objects.get(id=claim.execution)
    assert (run.status, run.dispatch, run.trigger) == ("PENDING", 2, Trigger.MANUAL)


def test_a_renewal_extends_what_its_worker_runs():
    run = claimed(a_job(an_office()))
    before = Execution.objects.get(id=run.execution).locked_until
    assert renewed(run.execution, lease="90 seconds") == "kept"
    assert (Execution.objects.get(id=run.execution).locked_until - before).total_seconds() > 50


def test_a_renewal_does_not_revive_a_lease_that_ran_out():
    run = claimed(a_job(an_office()))
    expire_lease(run.execution)
    before = Execution.objects.get(id=run.execution).locked_until
    assert renewed(run.execution) == "over"
    assert Execution.objects.get(id=run.execution).locked_until == before


def test_a_renewal_answers_a_verdict_for_each_run():
    job = a_job(an_office())
    run = claimed(job)
    assert renewed(run.execution, worker="other@test") == "over"
    assert renewed(run.execution, dispatch=2) == "over"
    lifecycle.cancel(job.office_id, [job.id], actor="me")
    assert renewed(run.execution) == "cancel"
    run.finish()
    assert renewed(run.execution) == "over"


def test_a_renewal_answers_waiting_for_a_message_that_was_not_claimed():
    assert renewed(a_job(an_office()).execution_id) == "waiting"


def test_a_renewal_answers_late_after_the_time_limit_and_grace():
    run = claimed(a_job(an_office()))
    call.change(
        "UPDATE job_executions SET timeout_at = now() - interval '11 seconds' WHERE id = %s", [run.execution]
    )
    assert renewed(run.execution) == "late"
