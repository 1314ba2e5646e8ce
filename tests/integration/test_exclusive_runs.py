"""Exclusive Tasks by hand and by schedules: an owner has one run of them at a time."""

import pytest
from django.utils import timezone

from jobs import lifecycle
from jobs.errors import Conflict
from jobs.models import Execution
from jobs.sql import call, statements
from jobs.states import ExecutionStatus
from scheduler import manual_runs
from scheduler.models import Occurrence
from scheduler.schedules.catchup import MANUAL_RUNNING, OTHER_SCHEDULE_RUNNING
from scheduler.schedules.firing import fire_due
from tests.factories import a_user, claimed_start
from tests.limited_tasks import TASK, assert_held, register
from tests.schedule_factories import T0, a_schedule, after, executions, turns

pytestmark = pytest.mark.django_db(transaction=True)


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
    run = claimed_start(manual)
    assert_held(waits.id)
    settlement = run.finish()
    assert [send.execution for send in settlement.effects.send] == [str(waits.id)]
    assert claimed_start(waits.id, dispatch=2) is not None
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
    run = claimed_start(first)
    for waits in rest:
        assert_held(waits)
    return run, sorted(rest)


def test_waiting_runs_start_one_after_the_other():
    run, (second, third) = two_waiting()
    (send,) = run.finish().effects.send
    assert send.execution == str(second)
    assert Execution.objects.get(pk=third).dispatched_at is None
    (send,) = claimed_start(second, send.dispatch).finish().effects.send
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


def test_a_run_between_two_attempts_is_not_woken_though_its_message_counted_as_unsent():
    register(exclusive=True)
    execution = manual_runs.run_task(TASK, {}, owner_id=a_user("alice").pk)
    call.change(statements.MARK_UNSENT, [[str(execution)], [1]])
    assert claimed_start(execution).fail(delay_ms=60_000).effects.send == []
    assert Execution.objects.get(pk=execution).dispatched_at is None


def test_a_cancel_of_the_run_that_was_woken_wakes_the_next():
    run, (second, third) = two_waiting()
    run.finish()
    assert lifecycle.cancel_execution(second) == ExecutionStatus.CANCELLED
    assert claimed_start(third, dispatch=2) is not None


def test_a_cancel_of_a_run_that_waits_wakes_nobody():
    run, (second, third) = two_waiting()
    lifecycle.cancel_execution(second)
    assert Execution.objects.get(pk=third).dispatched_at is None
    assert [send.execution for send in run.finish().effects.send] == [str(third)]


def test_a_lost_run_without_a_job_starts_again_first():
    run, (second, _) = two_waiting()
    settlement = run.lose()
    assert [send.execution for send in settlement.effects.send] == [run.execution]
    again = claimed_start(run.execution, dispatch=2)
    assert [send.execution for send in again.finish().effects.send] == [str(second)]


def test_a_run_that_nobody_woke_is_due_all_the_same():
    run, (second, third) = two_waiting()
    run.finish()
    call.change("UPDATE job_executions SET dispatched_at = NULL WHERE id = %s", [second])
    lifecycle.send_due(timezone.now() + (after(31) - T0))
    assert Execution.objects.get(pk=third).dispatched_at is not None
