"""Limits of Tasks hold for dispatches and claims at once, over several connections."""

import time

import pytest
from django.db import transaction

from jobs import lifecycle
from jobs.errors import Held
from jobs.models import Execution, Job, TaskStart
from jobs.specs import ExecutionSpec
from jobs.sql import call
from jobs.states import Trigger
from tests.concurrency.threads import PATIENCE, all_at_once, start_thread, wait_until_blocked
from tests.factories import an_office, claimed_start, fresh, submitted

pytestmark = pytest.mark.django_db(transaction=True)
TASK = "demo.sum"
THREADS = 8


def limit(exclusive=False, starts=None, seconds=None):
    call.rows(
        "SELECT dure_limit_task(%s, %s, %s, %s * interval '1 second')", [TASK, exclusive, starts, seconds]
    )


def claim(execution, dispatch=1, token="t"):
    try:
        return claimed_start(execution, dispatch, token=token)
    except Held:
        return None


def starts(owner):
    """Executions of one owner, of an exclusive Task, as schedules that allow overlaps start them."""
    specs = [
        ExecutionSpec(
            task_id=TASK,
            role="default",
            trigger=Trigger.SCHEDULE,
            args={"numbers": [1]},
            exclusive_for=f"{owner}:{TASK}",
        )
        for _ in range(THREADS)
    ]
    lifecycle.start_executions(specs)
    return [spec.id for spec in specs]


def test_no_more_claims_succeed_at_once_than_the_rate_allows():
    limit(starts=5, seconds=60)
    jobs = [job for _ in range(THREADS) for job in submitted(an_office(), {}, {})]
    sent = [fresh(job).execution for job in jobs]

    def work(number):
        return [claim(run.id, run.dispatch) for run in sent[number * 2 : number * 2 + 2]]

    claims = [run for pair in all_at_once(work, THREADS) for run in pair if run is not None]
    assert len(claims) == 5
    assert TaskStart.objects.count() == 5
    assert set(TaskStart.objects.values_list("at", flat=True)) == set(
        Execution.objects.filter(status="RUNNING").values_list("attempt_started_at", flat=True)
    )
    assert Job.objects.filter(status="processing").count() == 5
    assert Job.objects.filter(status="ready", held=True).count() == 2 * THREADS - 5


def test_the_rate_holds_in_every_window_over_many_periods():
    limit(starts=3, seconds=1)
    offices = [an_office(max_concurrent_jobs=2) for _ in range(3)]
    jobs = [job for office in offices for job in submitted(office, {}, {}, {})]

    def work(number):
        while waiting := Execution.objects.filter(status="PENDING", dispatched_at__isnull=False):
            for run in waiting:
                won = claim(run.id, run.dispatch, token=f"{number}:{run.id}:{run.dispatch}")
                if won is not None:
                    won.finish()
        return lifecycle.send_due()

    while Job.objects.filter(status="done").count() < len(jobs):
        all_at_once(work, 3)
    rows = Execution.objects.order_by("attempt_started_at")
    times = [run.attempt_started_at for run in rows if run.attempt_started_at]
    assert len(times) == len(jobs)
    assert (
        min((later - earlier).total_seconds() for earlier, later in zip(times, times[3:], strict=False)) >= 1
    )


def test_one_exclusive_run_of_an_owner_starts_at_once():
    runs = starts("1")
    claims = [run for run in all_at_once(lambda number: claim(runs[number]), THREADS) if run is not None]
    assert len(claims) == 1
    (send,) = claims[0].finish().effects.send
    assert claim(send.execution, send.dispatch) is not None


def test_a_claim_waits_for_the_claim_of_another_exclusive_run():
    first, second, *_ = starts("1")
    with transaction.atomic():
        assert claim(first) is not None
        other = start_thread(lambda: claim(second))
        wait_until_blocked(other)
    assert other.result(PATIENCE) is None
    assert Execution.objects.get(pk=second).dispatched_at is None


def test_a_claim_waits_for_the_end_of_an_exclusive_run():
    first, second, *_ = starts("1")
    run = claim(first)
    with transaction.atomic():
        run.finish()
        other = start_thread(lambda: claim(second))
        wait_until_blocked(other)
    assert other.result(PATIENCE) is not None


def test_every_exclusive_run_starts_once_though_claims_and_ends_meet():
    starts("1")

    def work(number):
        count, until = 0, time.monotonic() + PATIENCE / 2
        while Execution.objects.filter(status__in=("PENDING", "RUNNING")).exists():
            assert time.monotonic() < until, "a run waits, and nobody wakes it"
            for run in Execution.objects.filter(status="PENDING", dispatched_at__isnull=False):
                won = claim(run.id, run.dispatch, token=f"{number}:{run.id}:{run.dispatch}")
                if won is not None:
                    assert Execution.objects.filter(status="RUNNING").count() == 1
                    won.finish()
                    count += 1
        return count

    assert sum(all_at_once(work, 3)) == THREADS


def test_two_dispatches_start_one_exclusive_job():
    limit(exclusive=True)
    office = an_office(paused=True, max_concurrent_jobs=THREADS)
    jobs = submitted(office, *({} for _ in range(THREADS)))
    office.paused = False
    office.save()

    def work(number):
        # A thread that only loses against the others must not be through before the last job has started.
        for _ in range(50 * len(jobs)):
            if Job.objects.filter(status="done").count() == len(jobs):
                break
            lifecycle.advance_office(office.id)
            assert Job.objects.filter(status="processing").count() <= 1
            for run in Execution.objects.filter(status="PENDING", dispatched_at__isnull=False):
                won = claim(run.id, run.dispatch, token=f"{number}:{run.id}:{run.dispatch}")
                if won is not None:
                    won.finish()

    all_at_once(work, 3)
    assert Job.objects.filter(status="done").count() == len(jobs)
