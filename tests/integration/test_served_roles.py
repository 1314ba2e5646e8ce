"""A slot needs a worker: only jobs of served roles are sent, and what is not claimed gives its slot back."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import lifecycle, publish, sweeps
from jobs.insight.explain import explain
from jobs.lifecycle import dispatch
from jobs.models import Job, ServedRole, Worker
from jobs.states import ExecutionStatus, JobStatus
from jobs.worker import registration
from tests.events import T, details, event_types
from tests.factories import (
    a_job,
    a_start,
    an_office,
    claimed,
    claimed_start,
    fresh,
    heartbeat,
    running,
    serve_roles,
    statuses,
    submitted,
    unserve_roles,
)

pytestmark = pytest.mark.django_db

LONG_AGO = timedelta(minutes=5)


def served():
    return set(ServedRole.objects.filter(until__gt=timezone.now()).values_list("role", flat=True))


def sent_long_ago(*jobs):
    """Lets the time pass after which an unclaimed job returns."""
    for job in jobs:
        execution = fresh(job).execution
        execution.dispatched_at -= LONG_AGO
        execution.save(update_fields=["dispatched_at"])


@pytest.fixture
def sent_roles(monkeypatch):
    """The roles of which registrations told the control worker."""
    roles = []
    monkeypatch.setattr(publish, "send_control", lambda name, values: roles.append((name, sorted(values))))
    return roles


# --- registration ----------------------------------------------------------------------------------


def test_the_first_worker_of_a_role_is_told_to_the_control_worker_once(sent_roles):
    heartbeat("a", "FE", "QA")
    heartbeat("a", "FE", "QA")
    heartbeat("b", "QA", "BE")
    assert sent_roles == [(lifecycle.DISPATCH_ROLES, ["FE", "QA"]), (lifecycle.DISPATCH_ROLES, ["BE"])]
    assert served() == {"FE", "QA", "BE"}


def test_a_role_is_served_until_the_last_of_its_workers_leaves():
    heartbeat("a", "FE", "QA")
    heartbeat("b", "FE")
    registration.deregister("a")
    assert served() == {"FE"}
    heartbeat("b", "FE", draining=True)
    assert served() == set()
    heartbeat("b", "FE")
    assert served() == {"FE"}
    heartbeat("b", "BE")
    assert served() == {"BE"}


def test_a_role_is_not_served_longer_than_the_lease_of_a_silent_worker(settings):
    heartbeat("a", "FE")
    (role,) = ServedRole.objects.all()
    left = role.until - timezone.now()
    assert timedelta(0) < left <= timedelta(seconds=settings.DURE_LEASE_SECONDS)
    assert Worker.objects.get().roles == ["FE"]


# --- dispatch --------------------------------------------------------------------------------------


def test_a_job_without_a_worker_holds_no_slot_and_keeps_nobody_waiting():
    office = an_office(max_concurrent_jobs=2)
    unserve_roles("BE")
    first, second, other = submitted(office, {"role": "BE"}, {"role": "BE"}, {"role": "QA"})
    assert statuses(first, second, other) == ["ready", "ready", "processing"]
    reasons = explain(office, fresh(first), timezone.now()).reasons
    assert [reason.code for reason in reasons] == ["no_worker_for_role"]


def test_waiting_jobs_are_sent_when_their_first_worker_comes(sent_roles):
    offices = [an_office(max_concurrent_jobs=1) for _ in range(3)]
    paused = an_office(paused=True)
    unserve_roles("FE")
    jobs = [a_job(office, role="FE") for office in offices for _ in range(2)]
    held = a_job(paused, role="FE")
    heartbeat("a", "FE")
    ((_, roles),) = sent_roles
    assert lifecycle.dispatch_roles(roles) == 3
    assert statuses(*jobs) == ["processing", "ready"] * 3
    assert fresh(held).status == JobStatus.READY


def test_a_sweep_sends_what_waited_for_a_worker():
    office = an_office()
    unserve_roles("FE")
    job = a_job(office, role="FE")
    sweeps.sweep_once()
    assert fresh(job).status == JobStatus.READY
    serve_roles("FE")
    sweeps.sweep_once()
    assert fresh(job).status == JobStatus.PROCESSING


def test_offices_are_dispatched_in_pieces(monkeypatch):
    monkeypatch.setattr(dispatch, "OFFICES_AT_ONCE", 2)
    unserve_roles()
    offices = [an_office() for _ in range(5)]
    unserve_roles()
    jobs = [a_job(office, role="QA") for office in offices]
    serve_roles("QA")
    assert lifecycle.dispatch_roles(["QA"]) == 5
    assert statuses(*jobs) == ["processing"] * 5


def test_an_execution_without_an_office_waits_for_its_worker():
    unserve_roles()
    started = a_start()
    assert claimed_start(started) is not None


# --- what is not claimed ---------------------------------------------------------------------------


def test_an_unclaimed_job_gives_its_slot_back_when_no_worker_serves_its_role():
    office = an_office(max_concurrent_jobs=1)
    job, other = submitted(office, {"role": "FE"}, {"role": "QA"})
    late_message = fresh(job).execution
    assert statuses(job, other) == ["processing", "ready"]
    unserve_roles("FE")
    assert lifecycle.return_unclaimed() == 0
    sent_long_ago(job)
    assert lifecycle.return_unclaimed() == 1
    assert statuses(job, other) == ["ready", "processing"]
    assert details(job, T.JOB_READY)["unclaimed"] is True
    # Its message comes late: it finds nothing to claim, neither now nor after the next dispatch.
    assert claimed_start(late_message.id, late_message.dispatch) is None
    running(other).finish()
    serve_roles("FE")
    lifecycle.advance_office(office.id)
    assert claimed_start(late_message.id, late_message.dispatch) is None
    run = claimed(job)
    assert run.execution == str(late_message.id)
    assert run.claim.attempt == 1


def test_an_unclaimed_job_makes_room_for_other_roles_while_its_worker_is_busy():
    office = an_office(max_concurrent_jobs=2)
    first, second, third, other = submitted(
        office, {"role": "FE"}, {"role": "FE"}, {"role": "FE"}, {"role": "QA"}
    )
    sent_long_ago(first, second)
    assert lifecycle.return_unclaimed() == 1
    assert statuses(first, second, third, other) == ["processing", "ready", "ready", "processing"]
    sent_long_ago(first)
    # Nobody else could use its slot: its place in the queue of the worker is worth keeping.
    assert lifecycle.return_unclaimed() == 0
    assert claimed(first) is not None


def test_a_running_job_keeps_its_slot():
    office = an_office(max_concurrent_jobs=1)
    job, other = submitted(office, {"role": "FE"}, {"role": "QA"})
    sent_long_ago(job)
    running(job)
    unserve_roles("FE")
    assert lifecycle.return_unclaimed() == 0
    assert statuses(job, other) == ["processing", "ready"]


def test_a_lost_run_keeps_its_slot_until_it_has_started_again():
    office = an_office(max_concurrent_jobs=1)
    job, other = submitted(office, {"role": "FE"}, {"role": "QA"})
    assert running(job).lose() is not None
    sent_long_ago(job)
    assert lifecycle.return_unclaimed() == 0
    assert statuses(job, other) == ["processing", "ready"]
    unserve_roles("FE")
    assert lifecycle.return_unclaimed() == 1
    assert statuses(job, other) == ["ready", "processing"]


def test_a_returned_job_can_be_cancelled():
    job = a_job(an_office(), role="FE")
    unserve_roles("FE")
    sent_long_ago(job)
    lifecycle.return_unclaimed()
    lifecycle.cancel(job.office_id, [job.id], actor="me")
    assert (fresh(job).status, fresh(job).execution.status) == ("cancelled", ExecutionStatus.CANCELLED)


# --- queue timeout ---------------------------------------------------------------------------------


def test_a_job_that_does_not_start_in_time_fails_with_a_timeout():
    office = an_office()
    unserve_roles("FE")
    waiting, sent, child = submitted(
        office,
        {"ref": "a", "role": "FE", "queue_timeout_ms": 1_000},
        {"role": "QA", "queue_timeout_ms": 1_000},
        {"depends_on": ["a"], "on_dependency_failure": "fail"},
    )
    ready_at = fresh(waiting).ready_at
    assert ready_at is not None
    assert fresh(waiting).queue_timeout_at == ready_at + timedelta(seconds=1)
    assert "queue_timeout" in [reason.code for reason in explain(office, fresh(waiting), ready_at).reasons]
    assert lifecycle.fail_overdue(ready_at) == 0
    assert lifecycle.fail_overdue(ready_at + LONG_AGO) == 2
    for job in (waiting, sent):
        row = fresh(job)
        assert (row.status, row.failure_type) == ("failed", "timeout")
        assert row.error_message == "It had not started within its queue timeout of 1000 ms."
        assert event_types(job)[-2:] == [T.JOB_TIMEOUT, T.JOB_FAILED]
    assert fresh(sent).execution.status == ExecutionStatus.FAILED
    assert claimed(sent) is None
    assert fresh(child).failure_type == "dependency_failed"


def test_a_job_that_started_in_time_is_past_its_queue_timeout():
    job = a_job(an_office(), queue_timeout_ms=1_000)
    run = running(job)
    later = timezone.now() + LONG_AGO
    assert lifecycle.fail_overdue(later) == 0
    assert fresh(job).queue_timeout_at is None
    run.lose()  # it starts again in the same slot
    assert lifecycle.fail_overdue(later) == 0
    assert claimed(job, token="t2") is not None


def test_each_retry_waits_for_its_own_queue_timeout():
    job = a_job(an_office(), queue_timeout_ms=60_000)
    running(job).fail(delay_ms=0)
    unserve_roles()
    lifecycle.advance_office(job.office_id)
    again = fresh(job)
    assert again.status == JobStatus.READY
    assert again.ready_at is not None
    assert lifecycle.fail_overdue(again.ready_at + timedelta(seconds=59)) == 0
    assert lifecycle.fail_overdue(again.ready_at + timedelta(seconds=61)) == 1
    assert Job.objects.get(pk=job.pk).failure_type == "timeout"
