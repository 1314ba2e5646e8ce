"""Of many runs without an office few have messages at first. Each end claims the next, or sends it."""

import dataclasses
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from jobs import lifecycle, queues
from jobs.answers import NextClaim
from jobs.lifecycle.dispatch import FEW
from jobs.models import Execution, Worker
from jobs.sql import call
from jobs.states import ExecutionStatus, Outcome
from scheduler.beat_pass import UNSENT_SECONDS, pass_once
from scheduler.models import Schedule
from tests.concurrency.threads import start_thread
from tests.factories import (
    NEXT_CLAIM,
    Claimed,
    a_job,
    a_start,
    an_office,
    claimed_start,
    running_start,
    serve_roles,
    starts,
    unserve_roles,
)
from tests.messages import record_messages
from tests.schedule_factories import a_schedule, claim, executions, fire
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE = 60


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    serve_roles()
    return record_messages(monkeypatch)


def many(count=FEW + 5, **fields):
    """Runs started at once. However slow the test is, their messages are new."""
    runs = [str(each) for each in starts(*[fields] * count)]
    Execution.objects.filter(sent_count=1).update(sent_at=timezone.now() + timedelta(hours=1))
    return runs


def unsent(**fields) -> str:
    """A run that waits without a message, as most of many do."""
    execution = a_start(**fields)
    Execution.objects.filter(pk=execution).update(sent_count=0)
    return str(execution)


def finish(run: Claimed | None, next_claim: NextClaim | None = NEXT_CLAIM, **values):
    return run.finish(next_claim=next_claim, **values)


def brought(settlement):
    """The run that this end has claimed for its process."""
    return settlement.next_run and settlement.next_run[1].execution_id


def backdate(execution: str, seconds: float) -> None:
    call.change(
        "UPDATE job_executions SET sent_at = now() - %s * interval '1 second' WHERE id = %s",
        [seconds, execution],
    )


# --- what is sent at first -----------------------------------------------------------------------


def test_few_runs_are_all_sent(sent):
    runs = many(FEW)
    assert sorted(sent) == sorted(runs)


def test_the_first_of_many_runs_are_sent_and_the_others_are_queued_without_a_message(sent):
    runs = many()
    assert sorted(sent) == sorted(runs[:FEW])
    rows = Execution.objects.filter(sent_count=0)
    assert {str(row.id) for row in rows} == set(runs[FEW:])
    assert {(row.status, row.dispatch, row.due_at) for row in rows} == {("PENDING", 1, None)}
    assert all(row.dispatched_at for row in rows)


def test_each_role_has_messages_of_its_own(sent):
    starts(*[{"role": role} for role in ("default", "QA") for _ in range(FEW + 2)])
    roles = Execution.objects.filter(id__in=sent).values_list("role", flat=True)
    assert sorted(roles) == ["QA"] * FEW + ["default"] * FEW


def test_as_many_messages_wait_as_the_workers_of_the_role_have_processes(sent):
    now = timezone.now()
    workers: dict[str, dict[str, Any]] = {
        "one": {"seen_at": now - timedelta(seconds=20)},
        "two": {},
        "draining": {"draining": True},
        "of another role": {"roles": ["QA"]},
        "dead": {"seen_at": now - timedelta(seconds=70)},
    }
    for name, values in workers.items():
        defaults = {"roles": ["default"], "slots": 8, "running": 0, "started_at": now, "seen_at": now}
        Worker.objects.create(name=name, **{**defaults, **values})
    many(20)
    assert len(sent) == 16


def test_messages_that_wait_are_counted_until_one_is_claimed(sent):
    runs = many()
    sent.clear()
    assert lifecycle.send_unsent() == 0
    claimed_start(runs[0])
    assert lifecycle.send_unsent() == 1
    assert sent == [runs[FEW]]


def test_messages_that_have_waited_for_a_second_may_be_lost_and_are_not_counted(sent):
    runs = many()
    for run in runs[:FEW]:
        backdate(run, 2)
    assert lifecycle.send_unsent() == 5


def test_a_run_that_waits_for_its_retry_is_not_counted(sent):
    runs = many()
    Execution.objects.filter(pk=runs[0]).update(
        dispatched_at=None, due_at=timezone.now() + timedelta(hours=1)
    )
    assert lifecycle.send_unsent() == 1
    assert sent[FEW:] == [runs[FEW]]


def test_messages_of_jobs_are_not_counted(sent):
    for _ in range(FEW):
        a_job(an_office())
    sent.clear()
    assert sorted(many()[:FEW]) == sorted(sent)


def test_messages_that_have_waited_for_almost_a_second_are_counted():
    runs = many()

    def look():
        """What is sent beside messages that were younger than a second all the time; None if not."""
        with transaction.atomic():
            call.change("UPDATE job_executions SET sent_at = clock_timestamp() - interval '0.7 s'")
            sends = call.function("dure_send_unsent", FEW)
            ((in_time,),) = call.rows(
                "SELECT sent_at > clock_timestamp() - interval '1 s' FROM job_executions WHERE id = %s",
                [runs[0]],
            )
            transaction.set_rollback(True)
        return [sends] if in_time else None

    assert eventually(look) == [[]]


def test_a_run_that_may_not_start_yet_is_sent_at_once(sent):
    call.change("INSERT INTO task_limits VALUES ('demo.sleep', false, 5, '1 minute', 0)")
    limited, exclusive = {"task_id": "demo.sleep"}, {"exclusive_for": "x:demo.sum"}
    runs = [str(each) for each in starts(*[{}] * FEW, limited, exclusive)]
    assert set(runs[FEW:]) <= set(sent)


def serve_for_a_second_that_has_passed(role: str) -> None:
    serve_roles(role, seconds=-1)


@pytest.mark.parametrize("leave", [unserve_roles, serve_for_a_second_that_has_passed])
def test_a_role_without_workers_gets_messages_with_its_first_worker(sent, leave):
    leave("default")
    many()
    assert sent == []
    serve_roles("default")
    lifecycle.dispatch_roles(["default"])
    assert len(sent) == FEW


def test_a_paused_role_gets_messages_when_it_is_resumed(sent):
    runs = many()
    run = running_start(role="QA")
    sent.clear()
    queues.pause_queue("default", "me")
    assert (brought(finish(run)), lifecycle.send_unsent(), sent) == (None, 0, [])
    for run in runs[:FEW]:
        backdate(run, 2)
    queues.resume_queue("default", "me")
    lifecycle.dispatch_roles(["default"])
    assert set(sent) >= set(runs[FEW:])


# --- what an end claims --------------------------------------------------------------------------


def test_an_end_claims_the_oldest_that_has_no_message(sent):
    first, *others = many()
    settlement = finish(claimed_start(first))
    task_id, made = settlement.next_run
    assert (task_id, made.execution_id, made.dispatch) == ("demo.sum", others[FEW - 1], 1)
    row = Execution.objects.get(pk=made.execution_id)
    assert (row.status, row.token, row.worker, row.attempt, row.fence) == (
        "RUNNING",
        "message:1",
        "w@test",
        1,
        made.fence,
    )
    assert settlement.effects.send == []
    assert row.timeout_at is not None
    assert row.locked_until is not None


@pytest.mark.parametrize(
    ("waiting", "next_claim"),
    [
        ({"role": "QA"}, NEXT_CLAIM),
        ({}, dataclasses.replace(NEXT_CLAIM, roles=[])),
        ({}, dataclasses.replace(NEXT_CLAIM, level=0)),
        ({"task_id": "demo.sleep"}, NEXT_CLAIM),
        ({"exclusive_for": "x:demo.sum"}, NEXT_CLAIM),
        ({}, None),
    ],
    ids=[
        "of another role",
        "without roles",
        "less urgent than what waits",
        "limited",
        "exclusive",
        "no burst",
    ],
)
def test_an_end_claims_nothing_that_it_may_not(waiting, next_claim, sent):
    call.change("INSERT INTO task_limits VALUES ('demo.sleep', false, 5, '1 minute', 0)")
    execution = unsent(**waiting)
    run = running_start()
    sent.clear()
    assert brought(finish(run, next_claim)) is None
    assert Execution.objects.get(pk=execution).status == ExecutionStatus.PENDING
    assert sent == ([execution] if waiting.get("role") != "QA" else [])


def test_an_end_claims_nothing_while_a_message_of_its_roles_has_waited_for_long(sent):
    waiting, run = unsent(), running_start()
    a_job(an_office())
    call.change("UPDATE job_executions SET sent_at = sent_at - interval '2 s' WHERE office_id IS NOT NULL")
    sent.clear()
    assert brought(finish(run)) is None
    assert sent == [waiting]


def test_an_old_run_without_a_message_prevents_no_claim():
    old, run = unsent(), running_start()
    backdate(old, 60)
    assert brought(finish(run)) == old


def test_a_fenced_end_claims_and_sends_nothing(sent):
    waiting, run = unsent(), running_start()
    assert run.lose() is not None
    sent.clear()
    assert finish(run) is None
    assert sent == []
    assert Execution.objects.get(pk=waiting).status == ExecutionStatus.PENDING


@pytest.mark.parametrize("outcome", [Outcome.FAILURE, Outcome.TIMEOUT])
@pytest.mark.parametrize("delay", [None, 1_000])
def test_a_failure_sends_the_next(outcome, delay, sent):
    waiting, run = unsent(), running_start()
    sent.clear()
    run.finish(outcome, failure_type="error", error="broken", delay_ms=delay)
    assert sent == [waiting]


def test_a_lost_run_starts_again_and_sends_no_other(sent):
    unsent()
    run = running_start()
    sent.clear()
    run.lose()
    assert sent == [run.execution]


def test_a_run_that_another_transaction_claims_is_passed_by():
    first, second = unsent(), unsent()
    run = running_start()
    with transaction.atomic():
        call.rows("SELECT 1 FROM job_executions WHERE id = %s FOR UPDATE", [first])
        assert brought(start_thread(lambda: finish(run)).result(PATIENCE)) == second


@pytest.mark.parametrize("sends", ["an end", "beat"])
def test_a_run_that_another_transaction_claims_is_not_sent(sent, sends):
    first, second = unsent(), unsent()
    run = running_start()
    send = {"an end": lambda: finish(run, None), "beat": lifecycle.send_unsent}[sends]
    sent.clear()
    with transaction.atomic():
        call.rows("SELECT 1 FROM job_executions WHERE id = %s FOR UPDATE", [first])
        start_thread(send).result(PATIENCE)
    assert sent == [second]


def test_an_end_waits_for_the_disk_though_it_claims():
    """The claim alone need not."""
    unsent()
    call.change("SET synchronous_commit = on")
    with transaction.atomic():
        along = call.as_json(NEXT_CLAIM.values())
        ((claimed,),) = call.rows("SELECT claim FROM dure_start_next('default', %s, now())", [along])
        assert claimed is not None
        assert call.rows("SHOW synchronous_commit") == [("on",)]


def test_a_repeated_message_of_a_run_that_was_brought_along_claims_nothing():
    waiting, run = unsent(), running_start()
    assert brought(finish(run)) == waiting
    assert claimed_start(waiting, token="late", worker="other@test") is None


def test_an_end_within_a_transaction_claims_nothing_and_sends_the_next(sent):
    waiting, run = unsent(), running_start()
    sent.clear()
    with transaction.atomic():
        assert brought(finish(run)) is None
    assert sent == [waiting]


# --- runs of schedules ---------------------------------------------------------------------------


def a_scheduled_run(**fields) -> tuple[Schedule, Claimed]:
    schedule = a_schedule(**fields)
    fire(schedule)
    return schedule, claim(executions(schedule)[-1])


def test_the_end_of_a_scheduled_run_claims_the_next():
    waiting = unsent()
    schedule, run = a_scheduled_run()
    assert brought(finish(run, source=str(schedule.id))) == waiting


@pytest.mark.parametrize("counter", ["consecutive_failures", "consecutive_missed"])
def test_the_success_of_a_schedule_that_has_failed_resets_its_counts(counter, sent):
    waiting = unsent()
    schedule, run = a_scheduled_run()
    Schedule.objects.filter(pk=schedule.pk).update(**{counter: 2})
    sent.clear()
    assert brought(finish(run, source=str(schedule.id))) is None
    schedule.refresh_from_db()
    assert getattr(schedule, counter) == 0
    assert sent == [waiting]


def test_the_success_of_a_schedule_that_notifies_says_that_it_recovered():
    schedule, run = a_scheduled_run()
    Schedule.objects.filter(pk=schedule.pk).update(failing_since=timezone.now())
    finish(run, source=str(schedule.id))
    schedule.refresh_from_db()
    assert schedule.failing_since is None


def test_the_end_of_a_scheduled_run_that_does_not_name_its_schedule_is_handled_too():
    schedule, run = a_scheduled_run()
    Schedule.objects.filter(pk=schedule.pk).update(consecutive_failures=2)
    finish(run)
    schedule.refresh_from_db()
    assert schedule.consecutive_failures == 0


def test_the_first_failure_of_a_schedule_is_counted_though_a_success_would_change_nothing():
    schedule, run = a_scheduled_run()
    Schedule.objects.filter(pk=schedule.pk).update(notify_after_failures=9)
    run.finish(Outcome.FAILURE, failure_type="error", error="broken", source=str(schedule.id))
    schedule.refresh_from_db()
    assert schedule.consecutive_failures == 1


# --- beat ----------------------------------------------------------------------------------------


def test_a_pass_of_beat_sends_what_no_end_has_taken_and_looks_again_soon(sent):
    runs = many()
    for run in runs[:FEW]:
        backdate(run, 2)
    sent.clear()
    assert pass_once() == UNSENT_SECONDS
    assert sorted(sent) == sorted(runs[FEW:])
    assert pass_once() is None


def test_the_sweep_sends_the_others_though_no_beat_passes(sent, settings):
    runs = many()
    call.change("UPDATE job_executions SET sent_at = now() - interval '1 minute'")
    lifecycle.republish()
    assert set(runs[FEW:]) <= set(sent)
