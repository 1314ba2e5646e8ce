"""A pass of beat does all due work and returns how long beat may sleep."""

from datetime import timedelta

import pytest
from celery import current_app
from django_celery_beat.models import IntervalSchedule, PeriodicTask, PeriodicTasks

from jobs.models import Execution, Job
from scheduler import beats
from scheduler.beat import Scheduler
from scheduler.beat_pass import fire_all, pass_once
from scheduler.clock import database_now
from scheduler.models import Schedule, WorkflowRun
from scheduler.states import RunStatus
from tests.factories import a_job, an_office, claimed, fresh
from tests.schedule_factories import a_schedule, a_step, a_workflow, after, claim, executions

pytestmark = pytest.mark.django_db


def test_a_pass_with_nothing_to_do_returns_no_wait():
    assert pass_once() is None


def assert_pass_waits_until(due):
    latest = (due - database_now()).total_seconds()
    wait = pass_once()
    assert wait is not None
    assert (due - database_now()).total_seconds() <= wait <= latest


def test_a_pass_returns_the_wait_until_the_next_schedule():
    now = database_now()
    a_schedule(now=now, every_seconds=100)
    assert_pass_waits_until(now + timedelta(seconds=100))


def test_a_pass_returns_the_wait_until_the_next_workflow_run_if_sooner():
    now = database_now()
    a_schedule(now=now, every_seconds=100)
    a_workflow(now=now, schedule_config={"mode": "delayed", "delay_seconds": 40})
    assert_pass_waits_until(now + timedelta(seconds=40))


def test_a_pass_fires_starts_and_settles_due_work():
    schedule = a_schedule(now=database_now() - timedelta(seconds=61), every_seconds=60)
    workflow = a_workflow(now=database_now(), schedule_config={"mode": "immediate"}, steps=[a_step("a")])
    pass_once()
    assert len(executions(schedule)) == 1
    run = WorkflowRun.objects.get(workflow=workflow)
    assert run.status == RunStatus.RUNNING
    attempt = claimed(Job.objects.get(batch=run.batch_id))
    assert attempt is not None
    attempt.finish()
    pass_once()
    run.refresh_from_db()
    assert run.status == RunStatus.COMPLETED


def test_a_pass_sends_due_retries():
    schedule = a_schedule(now=database_now() - timedelta(seconds=61), every_seconds=60)
    job = a_job(an_office())
    pass_once()
    (execution,) = executions(schedule)
    claim(execution).fail(delay_ms=0)
    attempt = claimed(job)
    assert attempt is not None
    attempt.fail(delay_ms=0)
    pass_once()
    execution.refresh_from_db()
    assert (execution.dispatch, execution.due_at) == (2, None)
    assert execution.dispatched_at is not None
    assert fresh(job).status == "processing"


@pytest.mark.django_db(transaction=True)
def test_a_beat_is_seen_after_each_pass_and_forgotten_when_it_stops(monkeypatch):
    monkeypatch.setattr("scheduler.beat.Scheduler._send_periodic", lambda self: 1.0)
    beat = Scheduler(current_app)
    assert beats.status() == beats.BeatStatus(0, None)
    beat.tick()
    assert beats.status().running == 1
    beat.close()
    assert beats.status().running == 0


@pytest.mark.django_db(transaction=True)
def test_a_beat_whose_pass_fails_is_not_seen(monkeypatch):
    monkeypatch.setattr("scheduler.beat.Scheduler._send_periodic", lambda self: 1.0)
    monkeypatch.setattr("scheduler.beat.pass_once", lambda: 1 / 0)
    beat = Scheduler(current_app)
    beat.tick()
    assert beats.status().running == 0


@pytest.mark.django_db(transaction=True)
def test_beat_notices_the_first_periodic_task_that_is_ever_added():
    PeriodicTasks.objects.all().delete()
    beat = Scheduler(current_app)
    for _ in range(2):
        assert "first" not in beat.schedule
    interval = IntervalSchedule.objects.create(every=5, period=IntervalSchedule.SECONDS)
    PeriodicTask.objects.create(name="first", task="dure.sweep", interval=interval)
    assert "first" in beat.schedule


def test_many_due_schedules_are_fired_in_batches(monkeypatch):
    monkeypatch.setattr("scheduler.beat_pass.BATCH", 4)
    monkeypatch.setattr("scheduler.schedules.firing.fire_due.__defaults__", (4,))
    for _ in range(10):
        a_schedule()
    assert fire_all(after(60)).schedules == 10
    assert Execution.objects.count() == 10
    assert not Schedule.objects.filter(next_run_at__lte=after(60)).exists()
