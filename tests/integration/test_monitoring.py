"""Monitoring: queue probes, counted minutes, retention, and metrics for Prometheus."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from celery import current_app
from django.conf import settings
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from redis import Redis

from exports import streams
from exports.messages import REQUESTS
from jobs import redis
from jobs.models import Attempt, Execution, Job
from jobs.queries import known_roles
from jobs.queues import pause_queue
from jobs.sql import call
from scheduler import metrics, queue_probes, retention
from scheduler.clock import database_now
from scheduler.models import (
    Minute,
    Occurrence,
    QueueProbe,
    RoleMinute,
    Schedule,
    WorkflowRun,
    WorkflowRunStart,
)
from scheduler.schedules.firing import fire_due
from scheduler.sql import reports, statements
from scheduler.workflows import runs
from tests.factories import a_job, a_start, an_office, claimed, done, expire_lease, submitted
from tests.schedule_factories import a_schedule, a_step, a_workflow, claim, end, executions, fire

pytestmark = pytest.mark.django_db


def probed_roles() -> list[str]:
    """Those of Tasks that earlier tests of this process have registered, too."""
    return [*known_roles(), settings.DURE_CONTROL_QUEUE]


@pytest.fixture
def quiet_queues():
    """Removes the messages of the test from Redis."""
    with Redis.from_url(settings.REDIS_URL) as redis:
        redis.delete(*probed_roles())
        yield redis
        redis.delete(*probed_roles())


def ended(days_ago, **fields):
    """An Execution that ended so many days ago."""
    execution = Execution.objects.get(id=a_start(**fields))
    end(execution)
    at = database_now() - timedelta(days=days_ago)
    call.change(
        "UPDATE job_executions SET finished_at = %s, started_at = %s WHERE id = %s", [at, at, execution.id]
    )
    return execution


# --- queue probes --------------------------------------------------------------------------------------


def test_a_probe_is_sent_to_each_queue_once_until_it_is_consumed(quiet_queues):
    assert queue_probes.send_due() == len(probed_roles())
    assert queue_probes.send_due() == 0
    assert {quiet_queues.llen(role) for role in probed_roles()} == {1}
    queue_probes.mark_seen("QA")
    assert queue_probes.send_due() == 1
    assert quiet_queues.llen("QA") == 2


def test_a_lost_probe_is_sent_again(quiet_queues):
    queue_probes.send_due()
    QueueProbe.objects.update(sent_at=timezone.now() - queue_probes.LOST_AFTER - timedelta(seconds=1))
    assert queue_probes.send_due() == len(probed_roles())


def test_an_unsent_probe_is_sent_next_time(quiet_queues, monkeypatch):
    with monkeypatch.context() as away:
        away.setattr(current_app.amqp, "_producer_pool", None)
        away.setattr(current_app.conf, "broker_url", "redis://127.0.0.1:1/0")
        away.setattr(current_app, "_pool", None)
        with pytest.raises(Exception, match=r"127\.0\.0\.1:1"):
            queue_probes.send_due()
    assert queue_probes.send_due() == len(probed_roles())


# --- minutes ---------------------------------------------------------------------------------------


def test_a_past_minute_is_counted_once():
    now = datetime(2026, 11, 18, 0, 10, 15, tzinfo=UTC)
    for minute, failed in ((5, False), (5, True), (7, False), (10, False)):
        execution = Execution.objects.get(id=a_start())
        run = claim(execution)
        run.fail() if failed else run.finish()
        at = now.replace(minute=minute, second=30 if minute < 10 else 1)
        call.change(
            "UPDATE job_executions SET finished_at = %(at)s, created_at = %(at)s - interval '9 seconds', "
            "started_at = %(at)s - interval '4 seconds', attempt_started_at = %(at)s - interval '4 seconds' "
            "WHERE id = %(id)s",
            {"at": at, "id": execution.id},
        )
    for _ in range(2):
        call.change(reports.ROLL_UP_MINUTES, {"now": now})
    counted = [
        (row.minute.minute, row.done, row.failed, row.wait_ms, row.run_ms)
        for row in Minute.objects.order_by("minute")
    ]
    assert counted == [(5, 1, 1, 5000, 4000), (7, 1, 0, 5000, 4000)]
    assert set(Minute.objects.values_list("wait_p50_ms", "run_p50_ms")) == {(5000, 4000)}
    of_roles = RoleMinute.objects.order_by("minute").values_list("role", "minute__minute", "done", "wait_ms")
    assert list(of_roles) == [("default", 5, 1, 5000), ("default", 7, 1, 5000)]
    call.change(reports.ROLL_UP_MINUTES, {"now": now + timedelta(minutes=1)})
    assert Minute.objects.filter(minute=now.replace(second=0)).exists()


def test_the_length_of_the_queues_is_kept_with_the_last_counted_minute():
    submitted(an_office(max_concurrent_jobs=1), {}, {}, {})
    now = database_now()
    Minute.objects.create(
        minute=now.replace(second=0, microsecond=0) - timedelta(minutes=9), done=1, failed=0
    )
    for _ in range(2):
        call.change(reports.SAMPLE_QUEUES, {"now": now})
    newest = Minute.objects.latest("minute")
    assert (newest.done, newest.queued) == (0, 3)
    assert RoleMinute.objects.get(minute=newest.minute).queued == 3
    assert now - timedelta(minutes=3) < newest.minute < now - timedelta(minutes=1)


# --- retention -------------------------------------------------------------------------------------


def test_retention_deletes_what_ended_before_the_period():
    old = [ended(31), ended(30.1)]
    kept = ended(29.9)
    live = Execution.objects.get(id=a_start())
    Execution.objects.filter(id=live.id).update(created_at=timezone.now() - timedelta(days=99))
    assert retention.delete_old(database_now()).deleted["executions"] == 2
    assert set(Execution.objects.values_list("id", flat=True)) == {kept.id, live.id}
    assert not Attempt.objects.filter(execution_id__in=[execution.id for execution in old]).exists()
    assert Attempt.objects.filter(execution=kept).count() == 1


def test_retention_works_in_batches_until_nothing_is_left_and_its_period_is_a_setting(settings):
    settings.DURE_RETENTION_DAYS = 3
    for _ in range(7):
        ended(4)
    assert retention.delete_old(database_now(), batch=3).deleted["executions"] == 7


def test_retention_of_a_runs_jobs_and_batch_keeps_the_run():
    now = database_now()
    run = runs.run_now(a_workflow(steps=[a_step("a")]).id, user_id=None, now=now)
    done(Job.objects.get(batch=run.batch_id))
    runs.settle_runs(database_now())
    call.change("UPDATE job_queue SET completed_at = %s", [now - timedelta(days=31)])
    call.change("UPDATE job_batches SET ended_at = %s", [now - timedelta(days=31)])
    deleted = retention.delete_old(now).deleted
    assert (deleted["jobs"], deleted["batches"]) == (1, 1)
    call.rows("SET CONSTRAINTS ALL IMMEDIATE; SELECT 1")
    assert WorkflowRun.objects.get(id=run.id).status == "completed"


def test_retention_deletes_scheduled_runs_workflow_runs_and_minutes():
    now = database_now()
    schedule = a_schedule(now=now - timedelta(days=40))
    fire(schedule)
    workflow = a_workflow(now=now - timedelta(days=40), status="draft")
    for days_ago in (35, 1):
        run = runs.run_now(workflow.id, user_id=None, now=now - timedelta(days=days_ago))
        WorkflowRun.objects.filter(id=run.id).update(
            status="completed", ended_at=now - timedelta(days=days_ago)
        )
    Minute.objects.create(minute=now - timedelta(days=31), done=1, failed=0)
    deleted = retention.delete_old(now).deleted
    assert (deleted["occurrences"], deleted["runs"], deleted["minutes"]) == (1, 1, 1)
    assert WorkflowRun.objects.count() == WorkflowRunStart.objects.count() == 1
    assert not Occurrence.objects.exists()


# --- figures ---------------------------------------------------------------------------------------


COLLECTS = (metrics.schedules, metrics.workflow_runs, metrics.queues, metrics.executions, metrics.engine)


def figures():
    class Collected:
        def collect(self):
            for collect in COLLECTS:
                yield from collect()

    registry = CollectorRegistry()
    registry.register(Collected())
    lines = [line for line in generate_latest(registry).decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_the_metrics_of_schedules_are_reported():
    now = database_now()
    late = a_schedule(now=now - timedelta(seconds=100))
    a_schedule(now=now, enabled=False)
    values = figures()
    assert (values['dure_schedules{state="enabled"}'], values['dure_schedules{state="paused"}']) == (1, 1)
    assert values["dure_schedules_failing"] == 0
    Schedule.objects.filter(pk=late.pk).update(failing_since=now)
    assert figures()["dure_schedules_failing"] == 1
    assert 39 < values["dure_schedule_overdue_seconds"] < 60
    fire_due(now)
    values = figures()
    assert values["dure_schedule_overdue_seconds"] == 0
    assert values['dure_schedule_turns_5m{turn="run"}'] == 1
    assert 39 < values["dure_schedule_lag_seconds"] < 60
    assert executions(late)


def test_the_metrics_of_workflow_runs_are_reported():
    a_workflow(now=database_now() - timedelta(days=2))
    values = figures()
    assert values['dure_workflow_runs{state="pending"}'] == 1
    assert values['dure_workflow_runs{state="running"}'] == 0
    assert values["dure_workflow_run_overdue_seconds"] > 3600


def test_the_metrics_of_queues_and_workers_are_reported():
    from jobs.models import Worker

    now = database_now()
    Worker.objects.create(name="a", roles=["QA", "FE"], started_at=now, seen_at=now)
    Worker.objects.create(name="gone", roles=["QA"], started_at=now, seen_at=now - timedelta(hours=1))
    office = an_office(max_concurrent_jobs=1)
    first = a_job(office, role="QA")
    a_job(office, role="QA")
    assert claimed(first) is not None
    call.change(statements.START_PROBES, {"roles": ["QA"], "lost": queue_probes.LOST_AFTER})
    queue_probes.mark_seen("QA")
    pause_queue("FE", "me")
    values = figures()
    assert [values[f'dure_workers{{role="{role}"}}'] for role in ("QA", "FE", "BE")] == [1, 1, 0]
    assert (values['dure_queue_ready{role="QA"}'], values['dure_queue_running{role="QA"}']) == (1, 1)
    assert values['dure_queue_canary_seconds{role="QA"}'] < 5
    assert 'dure_queue_canary_seconds{role="FE"}' not in values
    assert [values[f'dure_queue_paused{{role="{role}"}}'] for role in ("FE", "QA")] == [1, 0]


def test_the_metrics_of_leases_and_retention_are_reported():
    execution = Execution.objects.get(id=a_start())
    claim(execution)
    expire_lease(str(execution.id))
    ended(33)
    values = figures()
    assert values["dure_leases_expired"] == 1
    assert values["dure_lease_expired_seconds"] > 0.9
    assert 2.9 * 86_400 < values["dure_retention_overdue_seconds"] < 3.1 * 86_400


def test_rare_events_are_counted():
    from jobs import counters
    from jobs.models import Counter

    assert set(metrics.ENGINE_COUNTERS) == set(counters.ALL)
    Counter.objects.create(name=counters.POISON, value=3)
    values = figures()
    assert (values["dure_poison_total"], values["dure_fenced_total"]) == (3, 0)


def test_every_metric_named_in_the_documentation_exists(client):
    page = (settings.BASE_DIR / "docs" / "operations.md").read_text()
    commands = set(re.findall(r"(?:inspect|control)[^`\n]* (dure_\w+)", page)) | {"dure_resume"}
    functions = set(re.findall(r"dure_\w+_v\d+", page))
    named = set(re.findall(r"dure_[a-z0-9_]+", page)) - {"dure_http_request_seconds"} - commands - functions
    streams.ensure_groups(redis.client(), [REQUESTS])
    call.change(statements.START_PROBES, {"roles": ["QA"], "lost": queue_probes.LOST_AFTER})
    Minute.objects.create(minute=timezone.now(), done=1, failed=0)
    text = client.get("/metrics").content.decode()
    redis.client().delete(REQUESTS)
    assert {name for name in named if not re.search(rf"^{name}[ {{]", text, re.MULTILINE)} == set()
    assert len(named) > 20
