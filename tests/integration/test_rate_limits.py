"""Rate limits of a Task: no more starts in a period, whatever starts them, and none is lost."""

import pytest
from django.utils import timezone

from jobs import lifecycle, office_config, sweeps
from jobs.errors import Held
from jobs.models import Execution, Job, Office, TaskLimit
from jobs.sql import call
from scheduler import manual_runs
from tests.factories import (
    NEXT_CLAIM,
    a_user,
    an_office,
    claimed,
    claimed_start,
    fresh,
    running,
    statuses,
    submitted,
)
from tests.limited_tasks import TASK, assert_held, held, let_pass, packs, register
from tests.schedule_factories import T0, after

pytestmark = pytest.mark.django_db(transaction=True)


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


def test_runs_that_offices_have_sent_above_the_rate_are_held_at_their_claim():
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
    settlement = running(first).finish(next_claim=NEXT_CLAIM)
    assert settlement.next_run is None
    assert [send.execution for send in settlement.effects.send] == [str(fresh(second).execution_id)]


def test_runs_without_a_job_are_due_one_period_after_the_other():
    register(rate_limit="2/m")
    users = [a_user(f"user{number}") for number in range(6)]
    runs = [manual_runs.run_task(TASK, {}, owner_id=user.pk) for user in users]
    starts = [claimed_start(run) for run in runs[:2]]
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
    assert claimed_start(runs[2], dispatch=2) is not None


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
