"""Races between firing, editing, manual runs, registering and starting."""

from collections import Counter
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import transaction

from jobs.errors import Conflict
from jobs.models import Event, Execution, Job
from jobs.states import EXECUTION_LIVE, EventType, ExecutionStatus
from scheduler.manual_runs import run_task
from scheduler.models import Occurrence, Schedule, WorkflowRun
from scheduler.schedules import lifecycle as schedules
from scheduler.schedules.firing import fire_due
from scheduler.states import RunStatus
from scheduler.workflows import lifecycle as workflows
from scheduler.workflows import runs
from tests.concurrency.threads import PATIENCE, all_at_once, in_thread, start_thread, wait_until_blocked
from tests.factories import an_office
from tests.integration.rest_support import client_of, make_user
from tests.schedule_factories import T0, a_schedule, a_step, a_workflow, after, claim, executions, turns

pytestmark = pytest.mark.django_db(transaction=True)


def test_fifty_concurrent_manual_runs_start_one_and_refuse_the_others():
    client = client_of(make_user())

    def run(number: int) -> int:
        body = {"args": {"numbers": [number]}}
        return client.post("/api/tasks/demo.sum/run", body, content_type="application/json").status_code

    assert Counter(all_at_once(run, 50)) == {202: 1, 409: 49}
    assert Execution.objects.count() == 1


def test_manual_runs_and_beats_at_one_moment_start_one_run_of_a_task_and_owner():
    alice = make_user("alice")
    made = [a_schedule(owner=alice, every_seconds=1, catch_up="none", grace=3600) for _ in range(4)]
    starts = []

    def work(number: int) -> None:
        for second in range(1, 11):
            if number < 3:
                fire_due(after(second))
                continue
            with suppress(Conflict):
                starts.append(run_task("demo.sum", {"numbers": [1]}, owner_id=alice.pk))

    for _ in range(3):
        all_at_once(work, 6)
        live = Execution.objects.filter(status__in=EXECUTION_LIVE)
        # Nothing ended meanwhile, so there was exactly one start.
        assert live.count() == 1
        live.update(status=ExecutionStatus.CANCELLED, finished_at=T0)
        Schedule.objects.update(next_run_at=after(1), last_execution_id=None)
        Occurrence.objects.all().delete()
    assert sum(len(turns(each)) for each in made) == 0


def test_failures_at_one_moment_notify_once_and_so_do_successes():
    alice = make_user("alice")
    schedule = a_schedule(
        owner=alice,
        overlap="allow",
        max_retries=0,
        notify_after_failures=2,
        notify_office=an_office(alice).id,
    )
    for minute in range(1, 13):
        fire_due(after(60 * minute))
    runs = [claim(execution) for execution in executions(schedule)]
    all_at_once(lambda number: runs[number].fail(), 8)
    all_at_once(lambda number: runs[8 + number].finish(), 4)
    events = Event.objects.filter(job_id=None).order_by("id")
    assert [event.type for event in events] == [EventType.SCHEDULE_FAILING, EventType.SCHEDULE_RECOVERED]


def test_a_beat_leaves_a_schedule_due_while_a_manual_run_has_not_committed():
    alice = make_user("alice")
    schedule, other = a_schedule(owner=alice), a_schedule(owner=make_user("bob"))
    with transaction.atomic():
        run_task("demo.sum", {"numbers": [1]}, owner_id=alice.pk)
        assert in_thread(lambda: fire_due(after(60)).schedules) == 1
    assert [turns(schedule), turns(other)] == [[], [(60, "run")]]
    assert fire_due(after(61)).outcomes == {"skipped": 1}
    assert turns(schedule) == [(60, "skipped")]


def test_a_manual_run_waits_for_a_firing_that_has_not_committed():
    alice = make_user("alice")
    schedule = a_schedule(owner=alice)
    with transaction.atomic():
        fire_due(after(60))
        run = start_thread(lambda: run_task("demo.sum", {"numbers": [1]}, owner_id=alice.pk))
        wait_until_blocked(run)
    with pytest.raises(Conflict) as refused:
        run.result(PATIENCE)
    assert refused.value.extra == {"execution_id": str(executions(schedule)[0].id)}


def test_an_edit_waits_for_the_firing_and_counts_after_it():
    schedule = a_schedule()
    with transaction.atomic():
        fire_due(after(60))
        edit = start_thread(lambda: schedules.change(schedule.id, {"every_seconds": 7}, now=after(61)))
        assert not edit.done()
    assert edit.result(PATIENCE).next_run_at == after(68)
    fire_due(after(68))
    assert [second for second, _ in turns(schedule)] == [60, 68]


def test_a_firing_leaves_out_what_is_being_edited_and_then_goes_by_the_new_rule():
    schedule = a_schedule()
    with transaction.atomic():
        schedules.change(schedule.id, {"every_seconds": 7}, now=after(61))
        assert in_thread(lambda: fire_due(after(61)).schedules) == 0
    fire_due(after(67))
    assert turns(schedule) == []
    fire_due(after(68))
    assert turns(schedule) == [(68, "run")]


def test_a_firing_leaves_out_what_is_being_paused():
    schedule = a_schedule()
    with transaction.atomic():
        schedules.pause(schedule.id, now=after(59))
        assert in_thread(lambda: fire_due(after(60)).schedules) == 0
    assert fire_due(after(600)).schedules == 0


def test_a_deletion_waits_for_the_firing_and_the_fired_runs_continue():
    schedule = a_schedule()
    with transaction.atomic():
        fire_due(after(60))
        deletion = start_thread(lambda: schedules.remove(schedule.id, now=after(61)))
        assert not deletion.done()
    deletion.result(PATIENCE)
    assert not Schedule.objects.exists()
    assert turns(schedule) == [(60, "run")]
    assert Execution.objects.filter(source=str(schedule.id)).count() == 1


def test_concurrent_edits_and_firings_leave_one_scheduled_run_per_due_time():
    made = [a_schedule(every_seconds=2, overlap="allow", catch_up="all") for _ in range(4)]

    def work(number: int) -> None:
        for step in range(30):
            now = after(2 + step)
            if number % 2:
                fire_due(now)
            else:
                schedules.change(made[step % 4].id, {"every_seconds": 2 + (step + number) % 3}, now=now)

    all_at_once(work, 6)
    ran = Occurrence.objects.filter(outcome="run").values_list("execution_id", flat=True)
    assert set(ran) == set(Execution.objects.values_list("id", flat=True))
    pairs = Occurrence.objects.values_list("schedule_id", "due_at")
    assert len(pairs) == len(set(pairs)) > 0


# --- workflows -------------------------------------------------------------------------------------


def pending():
    return WorkflowRun.objects.filter(status=RunStatus.PENDING)


def test_a_due_run_is_started_once_by_twelve_callers_at_once():
    office = an_office()
    for _ in range(5):
        a_workflow(office)
    due = after(86_400)
    started = all_at_once(lambda _: runs.run_due(due), 12)
    run_ids = [run for batch in started for run in batch]
    assert len(run_ids) == len(set(run_ids)) == 5
    assert WorkflowRun.objects.filter(status=RunStatus.RUNNING).count() == 5
    assert Job.objects.count() == 10
    assert pending().count() == 5


def test_concurrent_registrations_leave_one_pending_run_per_workflow():
    office = an_office()
    made = [a_workflow(office) for _ in range(5)]
    pending().delete()
    answers = all_at_once(lambda _: workflows.schedule_all(after(60)), 8)
    assert sum(answer["created"] for answer in answers) == 5
    assert pending().count() == len(made)


def test_concurrent_edits_and_starts_leave_one_pending_run_per_workflow():
    office = an_office()
    made = [a_workflow(office, steps=[a_step("a")]) for _ in range(3)]

    def work(number: int) -> None:
        for step in range(10):
            now = T0 + timedelta(days=1 + step)
            if number % 3 == 0:
                runs.run_due(now)
            elif number % 3 == 1:
                workflows.schedule_all(now)
            else:
                config = {"mode": "recurring", "pattern": "daily", "time": f"{(number + step) % 24:02}:00"}
                workflows.change(made[step % 3].id, {"schedule_config": config}, now=now)

    all_at_once(work, 6)
    assert Counter(pending().values_list("workflow_id", flat=True)) == {workflow.id: 1 for workflow in made}
    taken = WorkflowRun.objects.exclude(status=RunStatus.PENDING).values_list("workflow_id", "scheduled_time")
    assert len(taken) == len(set(taken))


def test_a_start_leaves_out_a_workflow_that_is_being_edited():
    workflow = a_workflow()
    with transaction.atomic():
        workflows.change(workflow.id, {"steps": [a_step("new")]}, now=after(10))
        assert in_thread(lambda: runs.run_due(after(86_400))) == []
    assert len(runs.run_due(after(86_400))) == 1
    assert [job.ref for job in Job.objects.all()] == ["new"]


def test_concurrent_resumes_resume_once():
    from tests.factories import claimed

    workflow = a_workflow(status="draft", steps=[a_step("a")])
    run = runs.run_now(workflow.id, user_id=None, now=T0)
    attempt = claimed(Job.objects.get())
    assert attempt is not None
    attempt.fail()
    runs.settle_runs(T0)

    def resume(_: int) -> bool:
        try:
            runs.resume(run.id, actor="", now=T0)
        except Conflict:
            return False
        return True

    assert sorted(all_at_once(resume, 8)) == [False] * 7 + [True]
    assert WorkflowRun.objects.get(id=run.id).retry_count == 1
