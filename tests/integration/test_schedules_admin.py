"""The admin changes schedules and workflows by the same verbs as the API."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from scheduler.clock import database_now
from scheduler.lifecycle.firing import fire_due
from scheduler.models import Schedule, ScheduledJob, Workflow
from tests.factories import an_office
from tests.integration.rest_support import make_user
from tests.schedule_factories import DAILY, a_schedule, a_step, a_workflow, fire

pytestmark = pytest.mark.django_db

SCHEDULE = {
    "name": "hourly",
    "task_id": "demo.sum",
    "args": '{"numbers": [1]}',
    "kind": "cron",
    "cron": "0 * * * *",
    "timezone": "Asia/Seoul",
    "overlap": "skip",
    "catch_up": "latest",
    "max_retries": "3",
    "enabled": "on",
}


@pytest.fixture
def client():
    client = Client()
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    return client


def page(name, *args):
    return reverse(f"admin:scheduler_{name}", args=args)


def form_of(schedule, **changes):
    kept = {
        field: getattr(schedule, field)
        for field in ("name", "task_id", "kind", "timezone", "overlap", "catch_up")
    }
    kept |= {
        "args": json.dumps(schedule.args),
        "every_seconds": schedule.every_seconds,
        "max_retries": 3,
        "enabled": "on",
    }
    return kept | changes


def test_a_schedule_that_is_added_is_due_at_once_by_its_rule(client):
    answer = client.post(page("schedule_add"), SCHEDULE)
    assert answer.status_code == 302, answer.content.decode()
    schedule = Schedule.objects.get()
    assert schedule.next_run_at is not None
    assert schedule.owner is not None
    assert "매시 정각" in client.get(page("schedule_changelist")).content.decode()


def test_a_refused_rule_is_told_beside_its_field(client):
    answer = client.post(page("schedule_add"), SCHEDULE | {"cron": "0 25 * * *"})
    assert "hour: 25 is out of range" in answer.content.decode()
    assert not Schedule.objects.exists()


def test_a_changed_rule_counts_from_now_and_another_change_keeps_the_time(client):
    schedule = a_schedule(now=database_now())
    before = schedule.next_run_at
    assert (
        client.post(page("schedule_change", schedule.pk), form_of(schedule, name="other")).status_code == 302
    )
    schedule.refresh_from_db()
    assert (schedule.name, schedule.next_run_at) == ("other", before)
    client.post(page("schedule_change", schedule.pk), form_of(schedule, every_seconds=7))
    schedule.refresh_from_db()
    assert schedule.next_run_at is not None
    assert 6 < (schedule.next_run_at - database_now()).total_seconds() <= 7


def test_pause_and_resume_of_many(client):
    made = [a_schedule(now=database_now()) for _ in range(2)]
    chosen = {"_selected_action": [str(one.pk) for one in made]}
    client.post(page("schedule_changelist"), {"action": "pause", **chosen})
    assert Schedule.objects.filter(enabled=False, next_run_at=None).count() == 2
    client.post(page("schedule_changelist"), {"action": "resume", **chosen})
    assert Schedule.objects.filter(enabled=True, next_run_at__isnull=False).count() == 2


def test_a_deleted_schedule_is_gone_with_its_turns(client):
    schedule = a_schedule(now=database_now())
    fire(schedule)
    client.post(page("schedule_delete", schedule.pk), {"post": "yes"})
    assert not Schedule.objects.exists()
    assert fire_due(database_now()).schedules == 0


def test_a_workflow_is_registered_as_it_is_saved(client):
    given = {
        "office": str(an_office().pk),
        "name": "report",
        "status": "active",
        "steps": json.dumps([a_step("a")]),
        "schedule_config": json.dumps(DAILY),
    }
    answer = client.post(page("workflow_add"), given)
    assert answer.status_code == 302, answer.content.decode()
    workflow = Workflow.objects.get()
    assert ScheduledJob.objects.filter(workflow=workflow).count() == 1
    client.post(page("workflow_change", workflow.pk), given | {"status": "paused"})
    assert not ScheduledJob.objects.exists()


def test_a_refused_workflow_is_told_beside_its_field(client):
    given = {
        "office": str(an_office().pk),
        "name": "x",
        "status": "draft",
        "schedule_config": json.dumps(DAILY),
    }
    answer = client.post(
        page("workflow_add"), given | {"steps": json.dumps([a_step("a", task_id="no.such")])}
    )
    assert "No Task" in answer.content.decode()


def test_history_is_shown_and_cannot_be_written(client):
    fire(a_schedule(now=database_now()))
    workflow = a_workflow(now=database_now())
    run = ScheduledJob.objects.get(workflow=workflow)
    assert client.get(page("occurrence_changelist")).status_code == 200
    assert client.get(page("scheduledjob_change", run.pk)).status_code == 200
    assert client.get(page("scheduledjob_add")).status_code == 403
    assert client.post(page("scheduledjob_delete", run.pk), {"post": "yes"}).status_code == 403
