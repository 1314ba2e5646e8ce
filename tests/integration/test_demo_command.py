"""`manage.py demo`: its users, its offices and its example data."""

import json
from datetime import timedelta

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from exports.models import Replay
from jobs import lifecycle
from jobs.models import Batch, Event, Job, Office
from jobs.states import JobStatus
from scheduler.models import Schedule, WorkflowRun
from scheduler.steps.models import StepQueue
from tests.integration.commands import WRONG_USAGE, run
from tests.integration.rest_support import forget_counts

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_counts(settings, tmp_path):
    forget_counts()
    settings.DURE_HOME = tmp_path


def demo(*args: str):
    return run("demo", *args).json


def test_the_demo_users_can_sign_in_and_use_their_tokens():
    answer = demo()
    assert [(user["username"], user["role"]) for user in answer["users"]] == [
        *(("admin", "staff"), ("alice", "member"), ("bob", "member"))
    ]
    for user in answer["users"]:
        assert authenticate(username=user["username"], password=user["password"]) is not None
        client = Client(headers={"Authorization": f"Token {user['token']}"})
        status = client.get(f"/api/offices/{answer['office_id']}").status_code
        assert status == (404 if user["username"] == "bob" else 200)
    assert User.objects.get(username="admin").is_superuser
    assert sorted(Office.objects.values_list("name", flat=True)) == ["Alice's office", "Bob's office"]


def test_existing_secrets_are_kept_by_a_second_call(monkeypatch):
    users = [
        {"username": name, "password": f"secret of {name}", "token": name * 8}
        for name in ("admin", "alice", "bob")
    ]
    monkeypatch.setenv("DURE_DEMO_USERS", json.dumps(users))
    first = demo()
    assert [user["password"] for user in first["users"]] == [user["password"] for user in users]
    assert [user["token"] for user in first["users"]] == [f"dure_{user['token']}" for user in users]
    counts = (Job.objects.count(), Event.objects.count(), Batch.objects.count())
    assert demo() == first
    assert (Job.objects.count(), Event.objects.count(), Batch.objects.count()) == counts


def test_secrets_can_come_from_a_file(tmp_path):
    file = tmp_path / "users.json"
    file.write_text(json.dumps({"users": {"alice": {"password": "from the file"}}}))
    assert demo("--users", str(file))["users"][1]["password"] == "from the file"
    file.write_text('{"users": 3}')
    assert "cannot be read" in run("demo", "--users", file).err


def test_the_demo_has_an_hour_of_history_and_running_work():
    hour = timezone.now() - timedelta(hours=1)
    office = demo()["office_id"]
    jobs = Job.objects.filter(office_id=office)
    ended = jobs.filter(completed_at__isnull=False)
    assert ended.count() >= 150
    assert ended.filter(status=JobStatus.FAILED).count() >= 4
    assert not ended.exclude(completed_at__range=(hour, timezone.now())).exists()
    assert jobs.filter(retry_at__gt=timezone.now()).exists()
    # No worker runs here: what is next waits for one.
    assert jobs.filter(status=JobStatus.READY, ref="requirements").exists()
    at = list(Event.objects.filter(office_id=office).order_by("id").values_list("at", flat=True))
    assert at == sorted(at)


def test_the_demo_has_schedules_a_workflow_and_step_queues_once():
    for _ in range(2):
        demo()
    assert Schedule.objects.filter(owner__username="alice", next_run_at__isnull=False).count() == 2
    runs = WorkflowRun.objects.filter(workflow__office__memberships__user__username="alice").order_by(
        "status"
    )
    assert [run.status for run in runs] == ["pending", "running"]
    assert [queue.state for queue in StepQueue.objects.filter(owner__username="alice")] == ["RUNNING"] * 2


def test_a_later_start_submits_no_second_release():
    demo()
    lifecycle.cancel(*only_office_of("alice"), actor="alice")
    demo()
    assert Batch.objects.filter(name="Release 2.0").count() == 1


def only_office_of(username):
    office = Office.objects.get(memberships__user__username=username)
    return office.id, list(office.jobs.values_list("id", flat=True))


def test_a_start_without_the_demo_creates_the_administrator_alone():
    answer = demo("--admin-only")
    assert ([user["username"] for user in answer["users"]], answer["office_id"]) == (["admin"], None)
    assert list(User.objects.values_list("username", flat=True)) == ["admin"]
    assert not Office.objects.exists()


def test_the_demo_is_removed_with_all_its_data_and_nothing_else():
    demo()
    carol = User.objects.create(username="carol")
    Schedule.objects.update(owner=carol)  # no longer the demonstration's
    office = Office.objects.create(name="Carol's office")
    assert "Try again" in run("demo", "--remove").err  # the queues still roll back
    StepQueue.objects.all().delete()
    assert run("demo", "--remove").out == "Removed the demonstration of alice and bob.\n"
    assert sorted(User.objects.values_list("username", flat=True)) == ["admin", "carol"]
    assert list(Office.objects.all()) == [office]
    assert not (Job.objects.exists() or StepQueue.objects.exists() or Replay.objects.exists())
    assert Schedule.objects.count() == 2


def test_the_demo_refuses_production(settings):
    settings.PRODUCTION = True
    assert run("demo").code == WRONG_USAGE
