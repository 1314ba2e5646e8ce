"""Schedules: each due time becomes one scheduled run, and each scheduled run at most one Execution."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction

from jobs.errors import Invalid
from jobs.models import Execution
from jobs.states import ExecutionStatus, Trigger
from scheduler.manual_runs import run_task
from scheduler.models import Occurrence, Schedule
from scheduler.schedules import lifecycle as schedules
from scheduler.schedules.catchup import (
    LATER_DUE,
    MANUAL_RUNNING,
    OTHER_SCHEDULE_RUNNING,
    STILL_RUNNING,
    TOO_LATE,
)
from scheduler.schedules.firing import fire_due
from tests.factories import expire_lease
from tests.integration.rest_support import make_user
from tests.schedule_factories import T0, a_schedule, after, claim, end, executions, turns

pytestmark = pytest.mark.django_db


def test_a_due_schedule_makes_one_execution_of_its_task():
    schedule = a_schedule(max_retries=7)
    assert fire_due(after(60)).outcomes == {"run": 1}
    (execution,) = executions(schedule)
    assert (execution.task_id, execution.trigger) == ("demo.sum", Trigger.SCHEDULE)
    assert (execution.args, execution.max_retries) == ({"numbers": [1, 2]}, 7)
    assert execution.scheduled_for == after(60)
    assert execution.status == ExecutionStatus.PENDING
    schedule.refresh_from_db()
    assert schedule.next_run_at == after(120)
    assert schedule.last_execution_id == execution.id


def test_a_schedule_that_is_not_due_is_left_alone():
    schedule = a_schedule()
    assert fire_due(after(59.999)).schedules == 0
    assert turns(schedule) == []


def test_a_due_time_that_was_decided_before_makes_no_second_execution():
    schedule = a_schedule()
    for _ in range(2):
        fire_due(after(60))
    # A restored backup, for example, sets the next time back.
    Schedule.objects.filter(id=schedule.id).update(next_run_at=after(60))
    fire_due(after(61))
    assert turns(schedule) == [(60, "run")]
    assert len(executions(schedule)) == 1


def test_a_retry_reuses_the_execution():
    schedule = a_schedule()
    fire_due(after(60))
    claim(executions(schedule)[0]).fail(delay_ms=0)
    (execution,) = executions(schedule)
    assert (execution.status, execution.retry_count) == (ExecutionStatus.PENDING, 1)


def test_cron_fires_in_korean_time():
    schedule = a_schedule(kind="cron", cron="30 9 * * *")
    assert schedule.next_run_at == after(30 * 60)


def test_a_once_schedule_fires_once_and_ends():
    schedule = a_schedule(kind="once", at=after(10))
    fire_due(after(10))
    schedule.refresh_from_db()
    assert schedule.next_run_at is None
    assert fire_due(after(1_000_000)).schedules == 0


def test_the_schedule_ends_at_its_end():
    schedule = a_schedule(ends_at=after(130))
    for minute in (1, 2, 3):
        fire_due(after(60 * minute))
        for execution in Execution.objects.filter(status=ExecutionStatus.PENDING):
            end(execution)
    assert turns(schedule) == [(60, "run"), (120, "run")]


# --- overlap ---------------------------------------------------------------------------------------


def test_scheduled_runs_are_skipped_until_the_previous_one_has_ended():
    schedule = a_schedule()
    fire_due(after(60))
    assert fire_due(after(120)).outcomes == {"skipped": 1}
    run = claim(executions(schedule)[0])
    fire_due(after(180))
    assert run.finish() is not None
    fire_due(after(240))
    assert turns(schedule) == [(60, "run"), (120, "skipped"), (180, "skipped"), (240, "run")]
    assert Occurrence.objects.filter(outcome="skipped")[0].reason == STILL_RUNNING


def test_overlap_allow_runs_while_the_previous_run_is_live():
    schedule = a_schedule(overlap="allow")
    fire_due(after(60))
    fire_due(after(120))
    assert turns(schedule) == [(60, "run"), (120, "run")]


def test_schedules_of_one_task_with_different_owners_run_at_once():
    made = [a_schedule(owner=make_user(name)) for name in ("alice", "bob")] + [a_schedule(), a_schedule()]
    fire_due(after(60))
    assert [turns(each) for each in made] == [[(60, "run")]] * 4


def test_schedules_of_one_task_and_owner_run_in_turn():
    alice = make_user("alice")
    first, second = a_schedule(owner=alice), a_schedule(owner=alice)
    for minute in (60, 120):
        fire_due(after(minute))
        end(Execution.objects.get(status=ExecutionStatus.PENDING))
    assert sorted([turns(first), turns(second)]) == [
        [(60, "run"), (120, "skipped")],
        [(60, "skipped"), (120, "run")],
    ]
    reasons = Occurrence.objects.filter(outcome="skipped").values_list("reason", flat=True)
    assert set(reasons) == {OTHER_SCHEDULE_RUNNING}


def test_a_run_of_another_schedule_that_started_before_skips_a_due_time():
    alice = make_user("alice")
    a_schedule(owner=alice, every_seconds=59)
    late = a_schedule(owner=alice)
    fire_due(after(59))
    fire_due(after(60))
    assert turns(late) == [(60, "skipped")]


def test_a_schedule_with_overlap_allow_neither_skips_nor_makes_others_skip():
    alice = make_user("alice")
    parallel = a_schedule(owner=alice, overlap="allow", every_seconds=50)
    other = a_schedule(owner=alice)
    run_task("demo.sum", {"numbers": [1]}, owner_id=alice.pk)
    fire_due(after(50))
    end(Execution.objects.get(trigger=Trigger.MANUAL))
    fire_due(after(60))
    assert turns(parallel) == [(50, "run")]
    assert turns(other) == [(60, "run")]


def test_a_due_time_is_skipped_while_a_manual_run_of_its_owner_goes_on():
    alice = make_user("alice")
    schedule, of_bob = a_schedule(owner=alice), a_schedule(owner=make_user("bob"))
    run_task("demo.sum", {"numbers": [1]}, owner_id=alice.pk)
    fire_due(after(60))
    assert [turns(schedule), turns(of_bob)] == [[(60, "skipped")], [(60, "run")]]
    assert Occurrence.objects.get(schedule=schedule).reason == MANUAL_RUNNING
    end(Execution.objects.get(trigger=Trigger.MANUAL))
    fire_due(after(120))
    assert turns(schedule)[-1] == (120, "run")


def test_the_policies_of_a_schedule_go_before_those_of_its_task():
    schedule = a_schedule(on_lost="fail", timeout_ms=5_000, retry_backoff="linear", retry_base_delay=250)
    plain = a_schedule()
    fire_due(after(60))
    (execution,), (other,) = executions(schedule), executions(plain)
    assert (execution.on_lost, execution.timeout_ms) == ("fail", 5_000)
    assert (execution.retry_backoff, execution.retry_base_delay_ms) == ("linear", 250)
    assert (other.on_lost, other.timeout_ms) == ("retry", 1_800_000)
    assert (other.retry_backoff, other.retry_base_delay_ms) == ("exponential", 60_000)


def test_a_lost_worker_counts_as_running_until_its_lease_ends():
    from jobs import lifecycle as engine

    schedule = a_schedule()
    fire_due(after(60))
    (execution,) = executions(schedule)
    Execution.objects.filter(id=execution.id).update(on_lost="fail")
    claim(execution)
    fire_due(after(120))  # the worker has died, and its lease is still valid
    expire_lease(str(execution.id))
    fire_due(after(180))  # the lease has expired, but the run is not rescued
    assert engine.rescue() == 1
    fire_due(after(240))
    assert turns(schedule) == [(60, "run"), (120, "skipped"), (180, "skipped"), (240, "run")]


def test_an_execution_that_waits_for_its_retry_has_not_ended():
    schedule = a_schedule()
    fire_due(after(60))
    claim(executions(schedule)[0]).fail(delay_ms=3_600_000)
    fire_due(after(120))
    assert turns(schedule)[-1] == (120, "skipped")


# --- catch-up after an outage ----------------------------------------------------------------------


def test_catch_up_latest_runs_once_for_all_missed_runs():
    schedule = a_schedule()
    fire_due(after(60 * 5 + 30))
    missed = [(seconds, "missed") for seconds in (60, 120, 180, 240)]
    assert turns(schedule) == [*missed, (300, "run")]
    schedule.refresh_from_db()
    assert schedule.next_run_at == after(360)


def test_catch_up_none_runs_no_missed_run():
    schedule = a_schedule(kind="cron", cron="0 * * * *", catch_up="none")
    fire_due(after(2 * 3600 + 61))
    assert turns(schedule) == [(3600, "missed"), (7200, "missed")]
    assert {row.reason for row in Occurrence.objects.all()} == {LATER_DUE, TOO_LATE}


def test_catch_up_none_runs_a_due_time_within_the_grace_of_the_schedule():
    patient, strict = (a_schedule(catch_up="none", grace=grace, every_seconds=1000) for grace in (600, 5))
    fire_due(after(1400))
    assert [turns(patient), turns(strict)] == [[(1000, "run")], [(1000, "missed")]]


def test_catch_up_none_runs_a_due_time_that_is_slightly_late():
    schedule = a_schedule(catch_up="none")
    fire_due(after(60 + 59))
    assert turns(schedule) == [(60, "run")]


def test_catch_up_all_runs_every_missed_run():
    schedule = a_schedule(catch_up="all", overlap="allow")
    fire_due(after(200))
    assert turns(schedule) == [(60, "run"), (120, "run"), (180, "run")]
    times = [execution.scheduled_for for execution in executions(schedule)]
    assert times == [after(60), after(120), after(180)]


def test_catch_up_all_with_skip_runs_the_first_and_skips_the_others():
    schedule = a_schedule(catch_up="all")
    fire_due(after(200))
    assert turns(schedule) == [(60, "run"), (120, "skipped"), (180, "skipped")]


@pytest.mark.parametrize("policy", ["latest", "none", "all"])
def test_a_long_outage_is_caught_up_in_passes_with_a_row_per_due_time(policy):
    schedule = a_schedule(every_seconds=1, catch_up=policy)
    now = after(1_234)
    passes = 0
    while fire_due(now).schedules:
        passes += 1
    assert passes == 7
    decided = turns(schedule)
    assert [second for second, _ in decided] == list(range(1, 1_235))
    expected = {"latest": [(1234, "run")], "none": [(1234, "run")], "all": [(1, "run")]}
    assert [turn for turn in decided if turn[1] == "run"] == expected[policy]


# --- changes ---------------------------------------------------------------------------------------


def test_a_changed_rule_counts_from_now():
    schedule = a_schedule()
    changed = schedules.change(schedule.id, {"every_seconds": 10}, now=after(30))
    assert changed.next_run_at == after(40)


def test_a_changed_name_or_args_keep_the_next_run_time():
    schedule = a_schedule()
    changed = schedules.change(schedule.id, {"name": "x", "args": {"numbers": [9]}}, now=after(61))
    assert changed.next_run_at == after(60)
    fire_due(after(61))
    assert executions(schedule)[0].args == {"numbers": [9]}


def test_the_same_rule_given_again_changes_nothing():
    schedule = a_schedule()
    changed = schedules.change(schedule.id, {"kind": "interval", "every_seconds": 60}, now=after(61))
    assert changed.next_run_at == after(60)


def test_a_rule_of_another_kind_replaces_the_old_rule():
    schedule = a_schedule()
    changed = schedules.change(schedule.id, {"kind": "cron", "cron": "0 12 * * *"}, now=T0)
    assert (changed.every_seconds, changed.next_run_at) == (None, after(3 * 3600))


def test_a_paused_schedule_does_not_fire_and_goes_on_from_now():
    schedule = a_schedule()
    schedules.pause(schedule.id, now=after(30))
    assert fire_due(after(600)).schedules == 0
    resumed = schedules.resume(schedule.id, now=after(630))
    assert resumed.next_run_at == after(660)
    assert turns(schedule) == []


def test_a_resume_of_an_active_schedule_changes_nothing():
    schedule = a_schedule()
    assert schedules.resume(schedule.id, now=after(61)).next_run_at == after(60)


def test_a_removed_schedule_does_not_fire_and_its_runs_continue():
    schedule = a_schedule()
    fire_due(after(60))
    (execution,) = executions(schedule)
    schedules.remove(schedule.id, now=after(61))
    assert fire_due(after(120)).schedules == 0
    end(execution)
    with pytest.raises(Schedule.DoesNotExist):
        schedules.resume(schedule.id, now=after(62))


def test_a_refused_change_changes_nothing():
    schedule = a_schedule()
    with pytest.raises(Invalid) as refused:
        schedules.change(schedule.id, {"kind": "cron", "cron": "61 * * * *"}, now=after(30))
    assert refused.value.errors_in_english() == {"cron": ["minute: 61 is out of range; allowed: 0-59."]}
    schedule.refresh_from_db()
    assert (schedule.kind, schedule.next_run_at) == ("interval", after(60))


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"task_id": "no.such"}, "task_id", "No Task 'no.such' is registered."),
        ({"args": {"numbers": "x"}}, "args", "numbers"),
        ({"args": {"numbers": [1], "more": 1}}, "args", "more"),
        ({"kind": "cron"}, "cron", "This field is required."),
        ({"kind": "cron", "cron": "0 0 30 2 *"}, "cron", "no day fits"),
        ({"cron": "* * * * *"}, "cron", "Belongs to schedules of type cron"),
        ({"timezone": "Mars/Olympus"}, "timezone", "is not a time zone"),
        ({"kind": "once", "at": after(-1)}, "at", "Must be in the future."),
        ({"kind": "once", "at": T0.replace(year=9000)}, "at", "between 1970 and 2200"),
        ({"starts_at": after(100), "ends_at": after(90)}, "ends_at", "Must be after the start."),
        ({"ends_at": after(30)}, "ends_at", "The schedule would never run."),
    ],
)
def test_an_invalid_schedule_is_rejected_by_field(fields, field, message):
    with pytest.raises(Invalid) as refused:
        a_schedule(**fields)
    assert message in " ".join(refused.value.errors_in_english()[field])
    assert not Schedule.objects.exists()


def test_a_scheduled_run_of_an_unknown_task_is_recorded_as_missed():
    schedule = a_schedule()
    Schedule.objects.filter(id=schedule.id).update(task_id="was.removed")
    fire_due(after(60))
    assert turns(schedule) == [(60, "missed")]
    assert Occurrence.objects.get().reason == "No Task 'was.removed' is registered."


def test_a_row_that_cannot_be_read_does_not_stop_the_others():
    broken, sound = a_schedule(), a_schedule()
    Schedule.objects.filter(id=broken.id).update(timezone="Mars/Olympus")
    fire_due(after(60))
    assert turns(sound) == [(60, "run")]
    broken.refresh_from_db()
    assert broken.next_run_at is None


# --- what the database itself refuses ----------------------------------------------------------------


def test_the_database_rejects_a_second_occurrence_of_a_due_time():
    schedule = a_schedule()
    fire_due(after(60))
    with pytest.raises(IntegrityError, match="one_occurrence_per_due_time"), transaction.atomic():
        Occurrence.objects.create(schedule=schedule, due_at=after(60), outcome="missed", decided_at=T0)


def test_the_database_refuses_a_run_without_its_execution():
    with pytest.raises(IntegrityError, match="occurrence_run_iff_execution"), transaction.atomic():
        Occurrence.objects.create(schedule=a_schedule(), due_at=after(60), outcome="run", decided_at=T0)


@pytest.mark.parametrize(
    ("change", "constraint"),
    [
        ({"enabled": False}, "schedule_paused_is_never_due"),
        ({"cron": "* * * * *"}, "schedule_has_the_rule_of_its_kind"),
        ({"every_seconds": 0}, "schedule_has_the_rule_of_its_kind"),
        ({"overlap": "queue"}, "schedule_overlap_known"),
        ({"catch_up": "some"}, "schedule_catch_up_known"),
    ],
)
def test_the_database_refuses_a_schedule_that_makes_no_sense(change, constraint):
    schedule = a_schedule()
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Schedule.objects.filter(id=schedule.id).update(**change)


def test_the_due_query_reads_its_index():
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(
            "EXPLAIN SELECT * FROM schedules WHERE next_run_at <= now() ORDER BY next_run_at LIMIT 500"
        )
        plan = " ".join(row[0] for row in cursor.fetchall())
    assert "schedules_due" in plan


def test_a_hundred_schedules_are_fired_by_a_handful_of_statements(django_assert_max_num_queries):
    for _ in range(100):
        a_schedule()
    with django_assert_max_num_queries(9):
        assert fire_due(after(60)).schedules == 100
    assert Execution.objects.count() == 100
    assert Occurrence.objects.filter(due_at=T0 + timedelta(seconds=60)).count() == 100
