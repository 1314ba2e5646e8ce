"""`celery beat` processes: one at a time sends periodic tasks, any number fire schedules."""

import time
from contextlib import contextmanager
from datetime import timedelta

import pytest
from celery import current_app
from django.conf import settings
from django_celery_beat.models import IntervalSchedule, PeriodicTask
from redis import Redis

from jobs.sql import call
from scheduler.clock import database_now
from scheduler.models import Occurrence, WorkflowRun
from scheduler.schedules import lifecycle as schedules
from scheduler.states import RunStatus
from tests.schedule_factories import a_schedule, a_workflow
from tests.workers import celery, eventually

pytestmark = pytest.mark.django_db(transaction=True)

QUEUE = "test-of-beats"


@pytest.fixture(autouse=True)
def empty_queue():
    with Redis.from_url(settings.REDIS_URL) as redis:
        redis.delete(QUEUE)
        yield
        redis.delete(QUEUE)


def sent():
    with Redis.from_url(settings.REDIS_URL) as redis:
        return redis.llen(QUEUE)


@contextmanager
def beats(folder, count):
    started = [
        celery("beat", "--pidfile", str(folder / f"{number}.pid"), log=folder / f"{number}.log")
        for number in range(count)
    ]
    try:
        for beat in started:
            beat.wait_for_line("maxinterval ->")
        yield started
    finally:
        for beat in started:
            beat.stop()


def a_periodic_task(seconds=1, name="test"):
    every, _ = IntervalSchedule.objects.get_or_create(every=seconds, period="seconds")
    # No worker consumes the queue, so the messages can be counted.
    return PeriodicTask.objects.create(
        name=name, task="dure.queue_probe", args='["x"]', interval=every, queue=QUEUE
    )


def test_concurrent_beats_send_a_periodic_task_and_a_schedule_once(tmp_path):
    a_periodic_task()
    with beats(tmp_path, 2):
        eventually(lambda: sent() >= 1, what="a first message")
        schedule = a_schedule(now=database_now(), every_seconds=1, overlap="allow", catch_up="all")
        began, first = time.monotonic(), sent()
        eventually(lambda: Occurrence.objects.count() >= 4, what="four turns")
        count = sent() - first
        # One message may have been due before, and another is due at once.
        assert count < time.monotonic() - began + 2
    turns = Occurrence.objects.filter(schedule=schedule).order_by("due_at")
    assert {turn.outcome for turn in turns} == {"run"}
    assert len({turn.due_at for turn in turns}) == len(turns)
    assert all(turn.decided_at >= turn.due_at for turn in turns)


def test_a_second_beat_takes_over_when_the_leader_is_killed(tmp_path):
    a_periodic_task()
    with beats(tmp_path, 2) as started:
        eventually(lambda: sent() >= 1, what="a first message")
        leader = next(beat for beat in started if "now sends the periodic tasks" in beat.log.read_text())
        leader.kill()
        killed_at = sent()
        eventually(lambda: sent() >= killed_at + 2, what="messages from the other beat")


def test_a_change_counts_without_a_restart(tmp_path):
    schedule = a_schedule(now=database_now(), every_seconds=3600, overlap="allow")
    with beats(tmp_path, 1):
        edited_at = database_now()
        schedules.change(
            schedule.id, {"kind": "once", "at": edited_at + timedelta(seconds=0.2)}, now=edited_at
        )
        # Without the change its first run would be in an hour.
        eventually(lambda: Occurrence.objects.exists(), what="the scheduled run of the changed rule")
        paused = a_schedule(now=database_now(), every_seconds=1, overlap="allow")
        eventually(
            lambda: Occurrence.objects.filter(schedule=paused).exists(),
            what="a scheduled run before the pause",
        )
        schedules.pause(paused.id, now=database_now())
        count = Occurrence.objects.filter(schedule=paused).count()
        other = a_schedule(now=database_now(), every_seconds=1, overlap="allow")
        eventually(lambda: Occurrence.objects.filter(schedule=other).count() >= 3, what="turns of another")
        assert Occurrence.objects.filter(schedule=paused).count() == count


def test_a_workflow_starts_at_its_time_and_a_periodic_task_is_edited_while_beat_runs(tmp_path):
    task = a_periodic_task(seconds=3600)
    with beats(tmp_path, 1):
        workflow = a_workflow(now=database_now(), schedule_config={"mode": "delayed", "delay_seconds": 1})
        task.interval, _ = IntervalSchedule.objects.get_or_create(every=1, period="seconds")
        task.save()
        eventually(
            lambda: WorkflowRun.objects.filter(workflow=workflow, status=RunStatus.RUNNING).exists(),
            what="the run to start",
        )
        run = WorkflowRun.objects.get(workflow=workflow)
        assert run.executed_at is not None
        assert run.executed_at >= run.scheduled_time
        eventually(lambda: sent() >= 2, what="the edited periodic task")


def test_schedules_are_fired_while_the_broker_is_down(tmp_path):
    a_periodic_task()
    nowhere = {"REDIS_URL": "redis://127.0.0.1:1/0"}
    beat = celery("beat", "--pidfile", str(tmp_path / "beat.pid"), log=tmp_path / "beat.log", env=nowhere)
    try:
        beat.wait_for_line("could not send a periodic task")
        schedule = a_schedule(now=database_now(), every_seconds=1, overlap="allow")
        # While the machine is too busy for beat, turns are missed.
        runs = Occurrence.objects.filter(schedule=schedule, outcome="run")
        eventually(lambda: runs.count() >= 6, what="six scheduled runs")
    finally:
        beat.stop()
    assert max(run.decided_at - run.due_at for run in runs) < timedelta(seconds=10)


def test_a_beat_whose_connections_are_cut_goes_on(tmp_path):
    a_periodic_task()
    with beats(tmp_path, 1) as (beat,):
        for _ in range(3):
            schedule = a_schedule(now=database_now(), every_seconds=1, overlap="allow")
            turns = Occurrence.objects.filter(schedule=schedule)
            eventually(lambda turns=turns: turns.count() >= 2, what="two turns")
            assert call.change(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        count = turns.count()
        eventually(lambda: turns.count() >= count + 2, what="turns after the last cut")
        before = sent()
        eventually(lambda: sent() > before, what="a periodic task after the last cut")
        assert beat.poll() is None


def test_our_maintenance_runs_as_periodic_tasks_on_the_control_queue():
    from importlib import import_module

    from django.apps import apps

    # The flush of another test may have emptied the tables that the migration filled.
    import_module("scheduler.migrations.0002_engine").create(apps, None)
    import_module("exports.migrations.0002_engine").create(apps, None)
    ours = {task.task: task for task in PeriodicTask.objects.filter(name__startswith="dure: ")}
    assert set(ours) == {
        "dure.sweep",
        "dure.send_queue_probes",
        "dure.rollup_minutes",
        "dure.retention",
        "dure.schedule_workflows",
        "dure.prune_exports",
    }
    assert {task.queue for task in ours.values()} == {settings.DURE_CONTROL_QUEUE}
    current_app.loader.import_default_modules()  # as a worker does at its start
    assert set(ours) <= set(current_app.tasks)
    assert ours["dure.schedule_workflows"].crontab.hour == "0"
    assert str(ours["dure.schedule_workflows"].crontab.timezone) == "Asia/Seoul"
