"""Exclusive Tasks: an office has one run of them at a time, and the others hold no slot."""

import pytest

from jobs import lifecycle, office_config, queues, sweeps
from jobs.models import Office
from jobs.sql import call
from tests.factories import (
    NEXT_CLAIM,
    an_office,
    expire_lease,
    fresh,
    released,
    running,
    serve_roles,
    statuses,
    submitted,
    unserve_roles,
)
from tests.limited_tasks import TASK, held, packs, register

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def exclusive(transactional_db):
    register(exclusive=True)


def test_one_job_of_an_exclusive_task_has_a_slot_and_others_use_the_rest():
    office = an_office(max_concurrent_jobs=3)
    first, second, third = packs(office, {}, {}, {})
    (other,) = submitted(office, {})
    assert statuses(first, second, third, other) == ["processing", "ready", "ready", "processing"]
    assert held(first, second, third) == [False, True, True]
    running(first).finish()
    assert statuses(first, second, third) == ["done", "processing", "ready"]
    running(second).finish()
    running(third).finish()
    assert statuses(second, third) == ["done", "done"]
    assert not Office.objects.get(pk=office.pk).holds


def test_offices_do_not_wait_for_each_other():
    (first,), (second,) = packs(an_office()), packs(an_office())
    assert statuses(first, second) == ["processing", "processing"]


def test_the_most_urgent_of_the_held_jobs_is_next():
    office = an_office()
    first, _, _ = packs(office, {}, {}, {})
    (urgent,) = packs(office, {"urgent": True})
    assert statuses(urgent) == ["ready"]
    running(first).finish()
    assert statuses(urgent) == ["processing"]


def test_a_burst_brings_the_next_exclusive_run_along():
    first, second, third = packs(an_office(), {}, {}, {})
    settlement = running(first).finish(next_claim=NEXT_CLAIM)
    assert settlement.next_run[1].job == str(second.id)
    assert statuses(second, third) == ["processing", "ready"]
    assert fresh(second).execution.exclusive_for == f"{second.office_id}:{TASK}"


def test_between_two_attempts_another_job_may_run():
    first, second = packs(an_office(), {}, {})
    running(first).fail(delay_ms=0)
    assert statuses(first, second) == ["pending", "processing"]
    lifecycle.send_due()
    assert statuses(first, second) == ["ready", "processing"]
    running(second).finish()
    assert running(first).claim.attempt == 2


def test_a_lost_run_starts_again_before_the_others():
    first, second = packs(an_office(), {}, {})
    running(first).lose()
    assert statuses(first, second) == ["processing", "ready"]
    running(first, token="t2").finish()
    assert statuses(second) == ["processing"]


def test_the_run_of_a_killed_worker_keeps_others_waiting_until_it_is_rescued():
    first, second = packs(an_office(), {}, {})
    run = running(first)
    expire_lease(run.execution)
    lifecycle.advance_office(first.office_id)
    assert statuses(first, second) == ["processing", "ready"]
    sweeps.sweep_once()
    assert statuses(first, second) == ["processing", "ready"]
    assert run.finish() is None
    running(first, token="t2").finish()
    assert statuses(first, second) == ["done", "processing"]


@pytest.mark.parametrize("claims_first", [False, True])
def test_a_cancelled_job_makes_room_when_it_has_stopped(claims_first):
    office = an_office()
    first, second = packs(office, {}, {})
    run = running(first) if claims_first else None
    lifecycle.cancel(office.id, [first.id], actor="me")
    if run is not None:
        assert statuses(second) == ["ready"]
        run.finish()
    assert statuses(first, second) == ["cancelled", "processing"]


def test_an_unclaimed_job_that_loses_its_slot_lets_the_next_dispatch_decide():
    office = an_office(max_concurrent_jobs=1)
    first, second = packs(office, {}, {})
    (other,) = submitted(office, {"role": "QA"})
    call.change("UPDATE job_executions SET dispatched_at = dispatched_at - interval '1 hour'")
    assert lifecycle.return_unclaimed() == 1
    assert statuses(first, second, other) == ["ready", "ready", "processing"]
    running(other).finish()
    assert statuses(first, second) == ["processing", "ready"]


def test_an_exclusive_join_waits_for_the_run_before():
    office = an_office()
    (first,) = packs(office)
    a, b = submitted(office, {"ref": "a"}, {"ref": "b"})
    (join,) = packs(office, {"depends_on": [str(a.id), str(b.id)]})
    running(a).finish()
    running(b).finish()
    assert released(join) is None
    assert statuses(join) == ["ready"]
    running(first).finish()
    assert statuses(join) == ["processing"]


def test_a_cancelled_held_job_leaves_nothing_behind():
    office = an_office()
    first, second, third = packs(office, {}, {}, {})
    lifecycle.cancel(office.id, [second.id], actor="me")
    running(first).finish()
    assert statuses(second, third) == ["cancelled", "processing"]
    lifecycle.retry(office.id, [second.id], actor="me")
    assert statuses(second) == ["ready"]
    running(third).finish()
    assert statuses(second) == ["processing"]


@pytest.mark.parametrize("why", ["unserved", "full", "paused"])
def test_held_jobs_of_a_role_that_cannot_start_keep_no_others_waiting(why):
    office = an_office(max_concurrent_jobs=5, max_concurrent_by_role={"FE": 1})
    first, stays, starts = packs(office, {}, {"role": "FE"}, {})
    if why == "unserved":
        unserve_roles("FE")
    elif why == "full":
        submitted(office, {"role": "FE"})
    else:
        queues.pause_queue("FE", "me")
    running(first).finish()
    assert statuses(stays, starts) == ["ready", "processing"]


def test_a_held_job_starts_when_its_office_is_resumed():
    office = an_office()
    first, second = packs(office, {}, {})
    run = running(first)
    office_config.change(office.id, {"paused": True})
    run.finish()
    assert (statuses(second), held(second)) == (["ready"], [True])
    office_config.change(office.id, {"paused": False})
    assert statuses(second) == ["processing"]


def test_a_held_job_starts_when_its_role_has_a_worker_again():
    first, second = packs(an_office(), {}, {})
    run = running(first)
    unserve_roles("default")
    run.finish()
    assert (statuses(second), held(second)) == (["ready"], [True])
    serve_roles("default")
    assert lifecycle.dispatch_roles(["default"]) == 1
    assert statuses(second) == ["processing"]


def test_an_attempt_after_the_limit_has_gone_is_no_longer_exclusive():
    first, second = packs(an_office(), {}, {})
    running(first).fail(delay_ms=0)
    running(second)
    register()
    lifecycle.send_due()
    assert running(first).claim.attempt == 2


def test_an_attempt_after_the_limit_has_come_is_exclusive():
    register()
    (job,) = packs(an_office())
    running(job).fail(delay_ms=0)
    register(exclusive=True)
    lifecycle.send_due()
    assert fresh(job).execution.exclusive_for == f"{job.office_id}:{TASK}"


def test_held_jobs_start_when_the_task_is_exclusive_no_longer():
    jobs = packs(an_office(), {}, {}, {})
    assert statuses(*jobs) == ["processing", "ready", "ready"]
    register()
    sweeps.sweep_once()
    assert statuses(*jobs) == ["processing"] * 3
