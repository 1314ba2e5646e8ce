"""Exclusive Tasks and rate limits: what may not start yet waits without a slot, and starts in time."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import catalogue, lifecycle, office_config, queues, sweeps
from jobs.answers import NextClaim
from jobs.catalogue import Registration
from jobs.errors import Conflict, Held
from jobs.insight.explain import explain
from jobs.models import Execution, Job, Office, TaskLimit
from jobs.pages.reason_texts import sentence
from jobs.sql import call
from jobs.sql.catalogue import DIFFERENT_LIMITS
from jobs.worker import registration
from jobs.worker.catalogue import row_of, write
from scheduler import manual_runs
from scheduler.diagnostics import check_limits
from scheduler.models import Occurrence
from scheduler.schedules.catchup import MANUAL_RUNNING, OTHER_SCHEDULE_RUNNING
from scheduler.schedules.firing import fire_due
from tests.factories import (
    Claimed,
    a_user,
    an_office,
    claimed,
    expire_lease,
    fresh,
    released,
    running,
    serve_roles,
    submitted,
    unserve_roles,
)
from tests.integration.rest_support import client_of
from tests.schedule_factories import T0, a_schedule, after, executions, turns

pytestmark = pytest.mark.django_db(transaction=True)

TASK = "shop.pack"
SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False}


def register(worker="w@test", **values):
    """As a worker that has the Task does at its start."""
    values = {"task_id": TASK, "schema": SCHEMA, **values}
    write(worker, [row_of(Registration(catalogue.TASK, TASK, "shop.tasks", values))])
    catalogue.forget()


def packs(office, *jobs):
    return submitted(office, *({"task_id": TASK, "args": {}, **job} for job in jobs or ({},)))


def statuses(*jobs):
    return [fresh(job).status for job in jobs]


def held(*jobs):
    return [fresh(job).held for job in jobs]


def let_pass(seconds):
    """Lets so much time pass since all starts."""
    call.change("UPDATE task_starts SET at = at - %s * interval '1 second'", [seconds])


def claim_run(execution, dispatch=1):
    claim = lifecycle.claim(str(execution), dispatch, token=f"t{execution}", worker="w@test")
    return Claimed(claim) if claim is not None else None


def assert_held(execution, dispatch=1):
    with pytest.raises(Held):
        claim_run(execution, dispatch)


# --- exclusive: jobs -------------------------------------------------------------------------------


def test_one_job_of_an_exclusive_task_has_a_slot_and_others_use_the_rest():
    register(exclusive=True)
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
    register(exclusive=True)
    (first,), (second,) = packs(an_office()), packs(an_office())
    assert statuses(first, second) == ["processing", "processing"]


def test_the_most_urgent_of_the_held_jobs_is_next():
    register(exclusive=True)
    office = an_office()
    first, _, _ = packs(office, {}, {}, {})
    (urgent,) = packs(office, {"urgent": True})
    assert statuses(urgent) == ["ready"]
    running(first).finish()
    assert statuses(urgent) == ["processing"]


def test_a_burst_brings_the_next_exclusive_run_along():
    register(exclusive=True)
    first, second, third = packs(an_office(), {}, {}, {})
    next_claim = NextClaim(token="message:1", worker="w@test", roles=["default"], level=9)
    settlement = running(first).finish(next_claim=next_claim)
    assert settlement.next_run[1].job == str(second.id)
    assert statuses(second, third) == ["processing", "ready"]
    assert fresh(second).execution.exclusive_for == f"{second.office_id}:{TASK}"


def test_between_two_attempts_another_job_may_run():
    register(exclusive=True)
    first, second = packs(an_office(), {}, {})
    running(first).fail(delay_ms=0)
    assert statuses(first, second) == ["pending", "processing"]
    lifecycle.send_due()
    assert statuses(first, second) == ["ready", "processing"]
    running(second).finish()
    assert running(first).claim.attempt == 2


def test_a_lost_run_starts_again_before_the_others():
    register(exclusive=True)
    first, second = packs(an_office(), {}, {})
    running(first).lose()
    assert statuses(first, second) == ["processing", "ready"]
    running(first, token="t2").finish()
    assert statuses(second) == ["processing"]


def test_the_run_of_a_killed_worker_keeps_others_waiting_until_it_is_rescued():
    register(exclusive=True)
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
    register(exclusive=True)
    office = an_office()
    first, second = packs(office, {}, {})
    run = running(first) if claims_first else None
    lifecycle.cancel(office.id, [first.id], actor="me")
    if run is not None:
        assert statuses(second) == ["ready"]
        run.finish()
    assert statuses(first, second) == ["cancelled", "processing"]


def test_an_unclaimed_job_that_loses_its_slot_lets_the_next_dispatch_decide():
    register(exclusive=True)
    office = an_office(max_concurrent_jobs=1)
    first, second = packs(office, {}, {})
    (other,) = submitted(office, {"role": "QA"})
    call.change("UPDATE job_executions SET dispatched_at = dispatched_at - interval '1 hour'")
    assert lifecycle.return_unclaimed() == 1
    assert statuses(first, second, other) == ["ready", "ready", "processing"]
    running(other).finish()
    assert statuses(first, second) == ["processing", "ready"]


def test_an_exclusive_join_waits_for_the_run_before():
    register(exclusive=True)
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
    register(exclusive=True)
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
    register(exclusive=True)
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
    register(exclusive=True)
    office = an_office()
    first, second = packs(office, {}, {})
    run = running(first)
    office_config.change(office.id, {"paused": True})
    run.finish()
    assert (statuses(second), held(second)) == (["ready"], [True])
    office_config.change(office.id, {"paused": False})
    assert statuses(second) == ["processing"]


def test_a_held_job_starts_when_its_role_has_a_worker_again():
    register(exclusive=True)
    first, second = packs(an_office(), {}, {})
    run = running(first)
    unserve_roles("default")
    run.finish()
    assert (statuses(second), held(second)) == (["ready"], [True])
    serve_roles("default")
    assert lifecycle.dispatch_roles(["default"]) == 1
    assert statuses(second) == ["processing"]


def test_an_attempt_after_the_limit_has_gone_is_no_longer_exclusive():
    register(exclusive=True)
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
    register(exclusive=True)
    jobs = packs(an_office(), {}, {}, {})
    assert statuses(*jobs) == ["processing", "ready", "ready"]
    register()
    sweeps.sweep_once()
    assert statuses(*jobs) == ["processing"] * 3


# --- exclusive: runs without a job -----------------------------------------------------------------


def test_a_run_by_hand_is_refused_while_another_one_of_the_owner_is_live():
    register(exclusive=True)
    alice, bob = a_user("alice"), a_user("bob")
    first = manual_runs.run_task(TASK, {}, owner_id=alice.pk)
    with pytest.raises(Conflict) as refused:
        manual_runs.run_task(TASK, {}, owner_id=alice.pk)
    assert (refused.value.code, refused.value.extra) == ("already_running", {"execution_id": str(first)})
    manual_runs.run_task(TASK, {}, owner_id=bob.pk)


def test_a_schedule_that_skips_is_skipped_and_one_that_allows_overlaps_waits():
    register(exclusive=True)
    alice = a_user("alice")
    manual = manual_runs.run_task(TASK, {}, owner_id=alice.pk)
    skips = a_schedule(owner=alice, task_id=TASK, args={}, overlap="skip")
    allows = a_schedule(owner=alice, task_id=TASK, args={}, overlap="allow", name="allows")
    fire_due(after(60))
    assert turns(skips) == [(60, "skipped")]
    assert Occurrence.objects.get(schedule=skips).reason == MANUAL_RUNNING
    (waits,) = executions(allows)
    run = claim_run(manual)
    assert_held(waits.id)
    settlement = run.finish()
    assert [send.execution for send in settlement.effects.send] == [str(waits.id)]
    assert claim_run(waits.id, dispatch=2) is not None
    fire_due(after(120))
    assert turns(skips)[1:] == [(120, "skipped")]
    assert Occurrence.objects.filter(schedule=skips).latest("due_at").reason == OTHER_SCHEDULE_RUNNING


def two_waiting():
    """An exclusive run, and the two Executions of schedules that wait for it."""
    register(exclusive=True)
    alice = a_user("alice")
    schedules = [
        a_schedule(owner=alice, task_id=TASK, args={}, overlap="allow", name=str(number))
        for number in range(3)
    ]
    fire_due(after(60))
    first, *rest = [executions(schedule)[0].id for schedule in schedules]
    run = claim_run(first)
    for waits in rest:
        assert_held(waits)
    return run, sorted(rest)


def test_waiting_runs_start_one_after_the_other():
    run, (second, third) = two_waiting()
    (send,) = run.finish().effects.send
    assert send.execution == str(second)
    assert Execution.objects.get(pk=third).dispatched_at is None
    (send,) = claim_run(second, send.dispatch).finish().effects.send
    assert send.execution == str(third)


@pytest.mark.parametrize("end", ["fail", "retry", "cancel"])
def test_every_end_of_an_attempt_wakes_the_next(end):
    run, (second, _) = two_waiting()
    if end == "cancel":
        lifecycle.cancel_execution(run.execution)
        settlement = run.finish()
    else:
        settlement = run.fail(delay_ms=60_000 if end == "retry" else None)
    assert [send.execution for send in settlement.effects.send] == [str(second)]


def test_a_lost_run_without_a_job_starts_again_first():
    run, (second, _) = two_waiting()
    settlement = run.lose()
    assert [send.execution for send in settlement.effects.send] == [run.execution]
    again = claim_run(run.execution, dispatch=2)
    assert [send.execution for send in again.finish().effects.send] == [str(second)]


def test_a_run_that_nobody_woke_is_due_all_the_same():
    run, (second, third) = two_waiting()
    run.finish()
    call.change("UPDATE job_executions SET dispatched_at = NULL WHERE id = %s", [second])
    lifecycle.send_due(timezone.now() + (after(31) - T0))
    assert Execution.objects.get(pk=third).dispatched_at is not None


# --- rate limits -----------------------------------------------------------------------------------


def test_jobs_above_the_rate_wait_without_a_slot_and_start_when_it_allows():
    register(rate_limit="2/m")
    office = an_office(max_concurrent_jobs=4)
    jobs = packs(office, *({} for _ in range(5)))
    (other,) = submitted(office, {})
    assert statuses(*jobs, other) == ["processing", "processing", "ready", "ready", "ready", "processing"]
    running(jobs[0])
    running(jobs[1])
    lifecycle.send_due()
    assert statuses(*jobs[2:]) == ["ready", "ready", "ready"]
    let_pass(61)
    assert lifecycle.send_due() == 1
    assert statuses(*jobs[2:]) == ["processing", "ready", "ready"]
    running(jobs[2])


def test_what_offices_have_sent_above_the_rate_is_held_at_its_claim():
    register(rate_limit="1/m")
    (first,), (second,) = packs(an_office()), packs(an_office(max_concurrent_jobs=1))
    (other,) = submitted(second.office, {})
    assert statuses(first, second, other) == ["processing", "processing", "ready"]
    running(first)
    with pytest.raises(Held):
        running(second)
    assert statuses(second, other) == ["ready", "processing"]
    assert fresh(second).execution.attempt == 0
    running(other).finish()
    assert statuses(second) == ["ready"]
    let_pass(61)
    lifecycle.send_due()
    assert running(second).claim.attempt == 1


def test_the_window_slides():
    register(rate_limit="2/m")
    jobs = [packs(an_office())[0] for _ in range(4)]
    running(jobs[0])
    let_pass(30)
    running(jobs[1])
    let_pass(31)
    running(jobs[2])
    with pytest.raises(Held):
        running(jobs[3])


def test_each_attempt_counts_and_a_lost_one_gives_its_slot_back():
    register(rate_limit="1/m")
    (job,) = packs(an_office())
    running(job).lose()
    with pytest.raises(Held):
        running(job)
    assert (statuses(job), held(job)) == (["ready"], [True])
    let_pass(61)
    lifecycle.send_due()
    assert running(job).claim.attempt == 2


def test_the_same_claim_twice_is_one_start():
    register(rate_limit="2/m")
    first, second = packs(an_office(), {}, {})
    assert running(first).fence == running(first).fence
    assert running(second) is not None


def test_a_burst_takes_no_run_along_that_counts():
    register(rate_limit="9/m")
    first, second = packs(an_office(max_concurrent_jobs=1), {}, {})
    next_claim = NextClaim(token="message:1", worker="w@test", roles=["default"], level=9)
    settlement = running(first).finish(next_claim=next_claim)
    assert settlement.next_run is None
    assert [send.execution for send in settlement.effects.send] == [str(fresh(second).execution_id)]


def test_runs_without_a_job_are_due_one_period_after_the_other():
    register(rate_limit="2/m")
    users = [a_user(f"user{number}") for number in range(6)]
    runs = [manual_runs.run_task(TASK, {}, owner_id=user.pk) for user in users]
    starts = [claim_run(run) for run in runs[:2]]
    for run in runs[2:]:
        assert_held(run)
    first = Execution.objects.get(pk=starts[0].execution).attempt_started_at
    dues = [
        (due - first).total_seconds()
        for due in Execution.objects.filter(pk__in=runs[2:]).order_by("pk").values_list("due_at", flat=True)
    ]
    assert [int(due // 60) for due in dues] == [1, 1, 2, 2]
    let_pass(61)
    lifecycle.send_due(timezone.now() + (after(70) - T0))
    assert claim_run(runs[2], dispatch=2) is not None


def test_a_paused_office_does_not_keep_others_waiting():
    register(rate_limit="1/m")
    paused, office = an_office(), an_office()
    packs(paused)
    (running_job,) = packs(office)
    running(running_job).finish()
    (waits,) = packs(office)
    assert statuses(waits) == ["ready"]
    (blocked,) = packs(paused)
    Office.objects.filter(pk=paused.pk).update(paused=True)
    let_pass(61)
    lifecycle.send_due()
    assert statuses(waits, blocked) == ["processing", "ready"]


def test_a_new_limit_counts_the_newest_starts():
    register(rate_limit="3/m")
    jobs = [packs(an_office())[0] for _ in range(6)]
    for job in jobs[:3]:
        running(job)
    register(rate_limit="4/m")
    running(jobs[3])
    register(rate_limit="2/m")
    with pytest.raises(Held):
        running(jobs[4])
    let_pass(61)
    lifecycle.send_due()
    running(jobs[4])
    register()
    assert TaskLimit.objects.get().max_starts is None
    sweeps.sweep_once()
    running(jobs[5])


def test_exclusive_and_rate_limit_hold_together():
    register(exclusive=True, rate_limit="2/m")
    jobs = packs(an_office(), {}, {}, {})
    running(jobs[0]).finish()
    running(jobs[1]).finish()
    assert statuses(*jobs) == ["done", "done", "ready"]
    let_pass(61)
    lifecycle.send_due()
    assert statuses(jobs[2]) == ["processing"]


def test_an_office_whose_exclusive_run_goes_on_uses_up_no_rate():
    register(exclusive=True, rate_limit="2/m")
    busy, other = an_office(), an_office()
    first, _ = packs(busy, {}, {})
    running(first)
    done, waits = packs(other, {}, {})
    running(done).finish()
    assert statuses(waits) == ["ready"]
    let_pass(61)
    lifecycle.send_due()
    assert statuses(waits) == ["processing"]


def test_a_rate_limit_lets_a_job_of_another_role_start_before_one_that_cannot():
    register(rate_limit="1/m")
    office = an_office(max_concurrent_jobs=5, max_concurrent_by_role={"FE": 1})
    submitted(office, {"role": "FE"})
    (first,) = packs(office)
    running(first)
    stays, starts = packs(office, {"role": "FE"}, {})
    call.change("UPDATE job_queue SET held = true WHERE id = %s", [stays.id])
    assert held(stays, starts) == [True, True]
    let_pass(61)
    lifecycle.send_due()
    assert statuses(stays, starts) == ["ready", "processing"]


def test_an_office_may_have_jobs_of_very_many_tasks_that_may_not_start():
    """PostgreSQL refuses a dispatch that calls itself for each of them."""
    call.change(
        "INSERT INTO task_limits (task_id, exclusive, max_starts, period, started)"
        " SELECT 'many.' || n, false, 1, interval '1 hour', 1 FROM generate_series(1, 1500) AS n"
    )
    call.change("INSERT INTO task_starts (task_id, place, at) SELECT task_id, 0, now() FROM task_limits")
    office = an_office(max_concurrent_jobs=1, paused=True)
    submitted(office, *({"ref": str(number)} for number in range(1, 1501)))
    call.change("UPDATE job_queue SET task_id = 'many.' || ref")
    (job,) = submitted(office, {})
    office_config.change(office.id, {"paused": False})
    assert statuses(job) == ["processing"]
    assert Job.objects.filter(held=True).count() == 1500


def test_a_task_without_limits_has_no_row():
    register()
    assert not TaskLimit.objects.exists()
    (job,) = packs(an_office())
    assert claimed(job) is not None
    assert Job.objects.get().held is False


# --- surfaces --------------------------------------------------------------------------------------


def online(*names):
    for name in names:
        values = {"roles": ["default"], "slots": 1, "running": 0, "draining": False, "started_at": 0}
        registration.register({"name": name, **values})


def reason_of(job):
    online("w@test")
    (reason,) = explain(job.office, fresh(job), timezone.now()).reasons
    return reason


def test_explain_names_the_run_that_an_exclusive_job_waits_for():
    register(exclusive=True)
    first, second = packs(an_office(), {"ref": "first"}, {})
    run = running(first)
    reason = reason_of(second)
    assert reason.code == "exclusive_running"
    assert [each["id"] for each in reason.facts["jobs"]] == [str(first.id)]
    assert reason.facts["execution_id"] == run.execution
    assert reason.facts["since"] == fresh(first).execution.attempt_started_at
    assert "first" in sentence(reason)


def test_explain_says_until_when_the_rate_is_reached():
    register(rate_limit="1/m")
    first, second = packs(an_office(), {}, {})
    running(first)
    lifecycle.advance_office(second.office_id)
    reason = reason_of(second)
    assert (reason.code, reason.facts["limit"], reason.facts["seconds"]) == ("rate_limited", 1, 60)
    started = fresh(first).execution.attempt_started_at
    assert reason.facts["until"] - started == timedelta(seconds=60)
    assert "60" in sentence(reason)


def test_different_limits_of_workers_are_shown():
    register(exclusive=True, rate_limit="10/m")
    online("w@test", "b@test")
    client = client_of(a_user("alice"))
    task = client.get(f"/api/tasks/{TASK}").json()
    assert (task["exclusive"], task["rate_limit"], task["limits_differ"]) == (True, "10/m", False)
    register(worker="b@test", rate_limit="10/m")
    assert client.get(f"/api/tasks/{TASK}").json()["limits_differ"]
    different = call.rows(DIFFERENT_LIMITS, {"kind": catalogue.TASK, "lease": 60})
    (message,) = check_limits([name for (name,) in different])
    assert TASK in message.msg
    assert TaskLimit.objects.get().exclusive is False
