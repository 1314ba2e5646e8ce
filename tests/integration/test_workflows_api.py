"""Workflows, the endpoints of an external cron, and the monitor's data, over HTTP."""

from datetime import timedelta
from threading import BoundedSemaphore

import pytest
from django.test import Client
from django.utils import timezone

from jobs.api.framework import waiting
from jobs.models import Job, Worker
from jobs.sql import call
from scheduler.clock import database_now
from scheduler.models import Workflow, WorkflowRun
from scheduler.states import RunStatus
from scheduler.workflows import runs
from tests.factories import a_member, an_office, claimed, serve_roles, submitted, unserve_roles
from tests.integration.rest_support import client_of, make_user
from tests.schedule_factories import DAILY, a_step, a_workflow

pytestmark = pytest.mark.django_db

JSON = "application/json"


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def office(alice):
    return an_office(alice)


@pytest.fixture
def client(alice):
    return client_of(alice)


def body(office, **fields):
    return {
        "office": str(office.id),
        "name": "report",
        "status": "active",
        "steps": [a_step("a"), a_step("b", "a")],
        "schedule_config": DAILY,
        **fields,
    }


def post(client, path, body=None, **headers):
    return client.post(path, body or {}, content_type=JSON, headers=headers)


def due_now(workflow):
    WorkflowRun.objects.filter(workflow=workflow).update(
        scheduled_time=database_now() - timedelta(seconds=90)
    )


def test_an_active_workflow_is_registered_at_once_and_described(client, office):
    answer = post(client, "/api/workflows", body(office))
    assert answer.status_code == 201
    made = answer.json()
    assert made["words"] == {"ko": "매일 09:00", "en": "every day at 09:00"}
    assert made["next_run_at"].endswith("T09:00:00+09:00")
    assert client.get(answer["Location"]).json() == made
    assert WorkflowRun.objects.filter(workflow=made["id"], status=RunStatus.PENDING).count() == 1


def test_editing_and_pausing_register_at_once(client, office):
    path = f"/api/workflows/{post(client, '/api/workflows', body(office)).json()['id']}"
    edited = client.patch(path, {"schedule_config": {**DAILY, "time": "10:00"}}, content_type=JSON).json()
    assert "T10:00:00" in edited["next_run_at"]
    paused = client.patch(path, {"status": "paused"}, content_type=JSON).json()
    assert paused["next_run_at"] is None


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"schedule_config": {"mode": "recurring", "pattern": "daily", "time": "9"}}, "schedule_config.time"),
        ({"schedule_config": {**DAILY, "times": ["10:00"]}}, "schedule_config.time"),
        ({"schedule_config": {**DAILY, "time": None, "times": ["10:00", 5]}}, "schedule_config.times"),
        ({"schedule_config": {**DAILY, "every_weeks": 2}}, "schedule_config.every_weeks"),
        ({"schedule_config": {**DAILY, "starts_on": "soon"}}, "schedule_config.starts_on"),
        ({"steps": [a_step("a", task_id="no.such")]}, "steps.0.task_id"),
        ({"status": "running"}, "status"),
        ({"steps": []}, "steps"),
    ],
)
def test_a_refusal_names_the_field(client, office, fields, field):
    answer = post(client, "/api/workflows", body(office, **fields))
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [field])
    assert not Workflow.objects.exists()


def test_the_cron_is_idempotent(client, office):
    made = post(client, "/api/workflows", body(office)).json()
    WorkflowRun.objects.filter(workflow=made["id"]).delete()
    nothing = {"created": 0, "kept": 0, "replaced": 0, "removed": 0}
    assert post(client, "/api/scheduler/cron").json() == nothing | {"created": 1}
    assert post(client, "/api/scheduler/cron").json() == nothing | {"kept": 1}


@pytest.mark.parametrize("method", ["get", "post"])
def test_the_execute_endpoint_starts_due_runs_once(client, office, method):
    workflow = a_workflow(office, now=database_now())
    due_now(workflow)
    (run,) = getattr(client, method)("/api/scheduler/execute").json()["executed"]
    assert (run["workflow_id"], run["status"]) == (str(workflow.id), "running")
    assert getattr(client, method)("/api/scheduler/execute").json() == {"executed": []}
    assert Job.objects.filter(office=office).count() == 2


def test_the_secret_of_the_cron_opens_its_endpoints_only(settings, office):
    settings.CRON_SECRET = "s3cret-of-the-cron"
    workflow = a_workflow(office, now=database_now())
    outside = Client(headers={"Authorization": "Bearer s3cret-of-the-cron"})
    assert outside.post("/api/scheduler/cron").json()["kept"] == 1
    due_now(workflow)
    assert len(outside.get("/api/scheduler/execute").json()["executed"]) == 1
    for path in ("/api/scheduler/monitor", "/api/workflows", "/api/schedules"):
        assert outside.get(path).status_code == 401


@pytest.mark.parametrize(
    ("secret", "sent"), [("s3cret-of-the-cron", ""), ("s3cret-of-the-cron", "wrong"), ("", "")]
)
def test_a_wrong_or_unset_secret_runs_nothing(settings, secret, sent):
    settings.CRON_SECRET = secret
    outside = Client(headers={"Authorization": f"Bearer {sent}"})
    assert outside.get("/api/scheduler/execute").status_code == 401


def test_a_workflow_is_executed_by_hand(client, office, alice):
    workflow = a_workflow(office, status="draft")
    answer = post(client, "/api/workflow/execute", {"workflow_id": str(workflow.id)})
    assert answer.status_code == 202
    run = client.get(answer["Location"]).json()
    assert (run["status"], run["workflow_id"]) == ("running", str(workflow.id))
    assert [start["number"] for start in run["history"]] == [1]


def test_a_repeated_execute_waits_for_the_first_ones_run(client, office):
    workflow = a_workflow(office, steps=[a_step("a")])
    body = {"workflow_id": str(workflow.id), "wait": 0.05}
    first = post(client, "/api/workflow/execute", body, **{"Idempotency-Key": "k"})
    assert first.status_code == 202  # no worker has run it yet
    attempt = claimed(Job.objects.get(batch=first.json()["batch"]))
    assert attempt is not None
    attempt.finish(result="42")
    again = post(client, "/api/workflow/execute", body, **{"Idempotency-Key": "k"})
    assert again.status_code == 200
    assert (again.json()["id"], again.json()["status"]) == (first.json()["id"], "completed")
    assert [job["result"] for job in again.json()["results"]] == [42]
    assert Job.objects.filter(office=office).count() == 1


def test_a_wait_for_a_deleted_run_answers_the_accepted_document(client, office):
    workflow = a_workflow(office, steps=[a_step("a")])
    body = {"workflow_id": str(workflow.id), "wait": 0.01}
    first = post(client, "/api/workflow/execute", body, **{"Idempotency-Key": "k"})
    assert client.delete(f"/api/workflows/{workflow.id}").status_code == 204
    again = post(client, "/api/workflow/execute", body, **{"Idempotency-Key": "k"})
    assert (again.status_code, again.json()) == (202, first.json())


def test_a_request_beyond_the_limit_of_waiters_is_answered_at_once(client, office, monkeypatch):
    monkeypatch.setattr(waiting, "SLOTS", BoundedSemaphore(1))
    waiting.SLOTS.acquire()
    workflow = a_workflow(office, steps=[a_step("a")])
    body = {"workflow_id": str(workflow.id), "wait": 60}
    assert post(client, "/api/workflow/execute", body).status_code == 202


def test_runs_are_listed_with_their_history_and_resumed(client, office):
    workflow = a_workflow(office, steps=[a_step("a"), a_step("b", "a")])
    run = runs.run_now(workflow.id, user_id=None, now=database_now())
    attempt = claimed(Job.objects.get(batch=run.batch_id, ref="a"))
    assert attempt is not None
    attempt.fail()
    runs.settle_runs(database_now())
    (listed,) = client.get(f"/api/workflows/{workflow.id}/runs?status=failed").json()["results"]
    assert (listed["status"], listed["error_message"][:21]) == ("failed", "1 of 2 steps failed. ")
    path = f"/api/workflows/{workflow.id}/runs/{run.id}"
    resumed = post(client, f"{path}/resume")
    assert resumed.status_code == 202
    assert (resumed.json()["status"], resumed.json()["retry_count"]) == ("running", 1)
    assert [start["status"] for start in client.get(path).json()["history"]] == ["failed", "running"]
    assert post(client, f"{path}/resume").status_code == 409


def test_a_run_is_cancelled_once(client, office):
    workflow = a_workflow(office)
    run = runs.run_now(workflow.id, user_id=None, now=database_now())
    path = f"/api/workflows/{workflow.id}/runs/{run.id}"
    cancelled = post(client, f"{path}/cancel")
    assert (cancelled.status_code, cancelled.json()["status"]) == (202, "cancelled")
    assert cancelled["Location"].endswith(path)
    again = post(client, f"{path}/cancel")
    assert (again.status_code, again.json()["code"]) == (409, "run_not_running")
    other = a_workflow(office)
    assert post(client, f"/api/workflows/{other.id}/runs/{run.id}/cancel").status_code == 404


@pytest.mark.parametrize("value", [-1, 101, 1.5, "x", None, True])
def test_bad_max_run_retries_are_refused_and_nothing_is_written(client, office, value):
    refused = post(client, "/api/workflows", body(office, max_run_retries=value))
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["max_run_retries"])
    assert not Workflow.objects.exists()
    workflow = a_workflow(office, max_run_retries=2)
    path = f"/api/workflows/{workflow.id}"
    assert client.patch(path, {"max_run_retries": value}, content_type=JSON).status_code == 400
    assert client.get(path).json()["max_run_retries"] == 2


def test_a_viewer_creates_and_runs_no_workflow_of_the_office(office):
    workflow, client = a_workflow(office), client_of(a_member(office, "viewer"))
    assert post(client, "/api/workflow/execute", {"workflow_id": str(workflow.id)}).status_code == 403
    assert post(client, "/api/workflows", body(office)).status_code == 403


def test_a_user_who_triggers_due_runs_sees_only_their_own(office):
    workflow = a_workflow(office, now=database_now())
    due_now(workflow)
    assert client_of(make_user("outsider")).get("/api/scheduler/execute").json() == {"executed": []}
    assert WorkflowRun.objects.filter(workflow=workflow, status=RunStatus.RUNNING).exists()


# --- the monitor -----------------------------------------------------------------------------------


def test_the_monitor_counts_and_lists_the_callers_runs(client, office):
    workflow = a_workflow(office, now=database_now())
    failing = a_workflow(office, now=database_now(), name="failing", steps=[a_step("a")])
    run = runs.run_now(failing.id, user_id=None, now=database_now())
    attempt = claimed(Job.objects.get(batch=run.batch_id))
    assert attempt is not None
    attempt.fail()
    runs.settle_runs(database_now())
    document = client.get("/api/scheduler/monitor").json()
    assert document["counts"] == {"pending": 2, "running": 0, "completed": 0, "failed": 1}
    assert document["counts_window_seconds"] == 86_400
    assert {row["workflow_id"] for row in document["next"]} == {str(workflow.id), str(failing.id)}
    assert [row["id"] for row in document["recent_failures"]] == [str(run.id)]
    assert document["delayed"] == []
    assert len(document["throughput"]) == 60
    outsider = client_of(make_user("outsider")).get("/api/scheduler/monitor").json()
    assert outsider["counts"] == {"pending": 0, "running": 0, "completed": 0, "failed": 0}
    assert (outsider["next"], outsider["recent_failures"]) == ([], [])


def test_a_run_that_was_not_started_is_delayed_and_has_a_reason(client, office):
    due_now(a_workflow(office, now=database_now()))
    (late,) = client.get("/api/scheduler/monitor").json()["delayed"]
    assert late["status"] == "pending"
    assert 89 < late["delayed_seconds"] < 120
    assert late["reason"] == "It is due, but no scheduler has started it. Is beat running?"


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"paused": True}, "Its office is paused."),
        ({}, "No online worker serves the role default."),
        ({"max_concurrent_jobs": 0}, "No online worker serves the role default."),
    ],
)
def test_a_run_whose_steps_do_not_start_is_delayed_and_has_a_reason(alice, client, config, reason):
    office = an_office(alice, **config)
    unserve_roles()
    run = runs.run_now(a_workflow(office, status="draft").id, user_id=None, now=database_now())
    WorkflowRun.objects.filter(id=run.id).update(executed_at=timezone.now() - timedelta(minutes=3))
    (late,) = client.get("/api/scheduler/monitor").json()["delayed"]
    assert (late["status"], late["reason"]) == ("running", reason)


def test_the_monitor_shows_queues_and_workers(client, office):
    from scheduler import queue_probes

    now = database_now()
    Worker.objects.create(name="w@here", roles=["default"], slots=2, running=1, started_at=now, seen_at=now)
    workflow = a_workflow(office, status="draft", steps=[a_step("a")])
    run = runs.run_now(workflow.id, user_id=None, now=now)
    attempt = claimed(Job.objects.get(batch=run.batch_id), worker="w@here")
    assert attempt is not None
    queue_probes.mark_seen("default")
    document = client.get("/api/scheduler/monitor").json()
    (worker,) = document["workers"]
    assert (worker["name"], worker["roles"], worker["running"]) == ("w@here", ["default"], 1)
    assert [row["task_id"] for row in worker["executions"]] == ["demo.sum"]
    queue = next(row for row in document["queues"] if row["role"] == "default")
    assert (queue["ready"], queue["processing"], queue["oldest_ready_seconds"]) == (0, 1, None)
    counts = {"pending": 0, "running": 1, "completed": 0, "failed": 0}
    assert document["executions"] == counts
    attempt.finish()
    for table, column in (("job_queue", "completed_at"), ("job_executions", "finished_at")):
        call.change(f"UPDATE {table} SET {column} = now() - interval '2 minutes' WHERE {column} IS NOT NULL")
    document = client.get("/api/scheduler/monitor").json()
    assert document["executions"] == {**counts, "running": 0, "completed": 1}
    assert sum(row["done"] for row in document["throughput"]) == 1


def test_the_monitor_counts_nothing_of_other_users(client, office):
    now = database_now()
    Worker.objects.create(name="w@here", roles=["FE"], slots=2, running=1, started_at=now, seen_at=now)
    serve_roles("FE")
    first, _second = submitted(office, {"role": "FE"}, {"role": "FE"})
    assert claimed(first, worker="w@here") is not None
    staff = client_of(make_user("steve", is_staff=True))
    for reader, ready, processing in (
        (client, 1, 1),
        (client_of(make_user("outsider")), 0, 0),
        (staff, 1, 1),
    ):
        document = reader.get("/api/scheduler/monitor").json()
        queue = next(row for row in document["queues"] if row["role"] == "FE")
        assert (queue["ready"], queue["processing"]) == (ready, processing)
        assert (queue["oldest_ready_seconds"] is None) == (not ready)
        (worker,) = document["workers"]
        assert (worker["running"], len(worker["executions"])) == (processing, processing)
        assert document["executions"]["running"] == processing
        assert len(document["throughput"]) == 60


# --- Inputs ----------------------------------------------------------------------------------------

SCHEMA = {"type": "object", "required": ["month"], "properties": {"month": {"type": "string"}}}
IMMEDIATE = {"mode": "immediate"}


def draft_with_schema(client, office, **fields):
    step = a_step("a", task_id="demo.fail", args={"message": {"$input": "month"}})
    values = {"status": "draft", "input_schema": SCHEMA, "steps": [step], **fields}
    return post(client, "/api/workflows", body(office, schedule_config=IMMEDIATE, **values))


def test_a_run_has_the_input_that_the_schema_allows(client, office):
    created = draft_with_schema(client, office)
    assert (created.status_code, created.json()["input_schema"]) == (201, SCHEMA)
    request = {"workflow_id": created.json()["id"], "input": {"month": "2026-11"}}
    run = post(client, "/api/workflow/execute", request)
    assert (run.status_code, run.json()["input"]) == (202, {"month": "2026-11"})
    batch = Job.objects.select_related("batch").get(batch=run.json()["batch"]).batch
    assert batch.input == {"month": "2026-11"}
    assert batch.scheduled_for == WorkflowRun.objects.get().scheduled_time


@pytest.mark.parametrize("value", [{"month": 3}, {}, [], "x", None])
def test_an_input_that_does_not_fit_is_refused_and_starts_nothing(client, office, value):
    workflow = draft_with_schema(client, office).json()["id"]
    refused = post(client, "/api/workflow/execute", {"workflow_id": workflow, "input": value})
    assert refused.status_code == 400
    assert any(field.startswith("input") for field in refused.json()["errors"])
    assert not WorkflowRun.objects.exists() and not Job.objects.exists()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"input_schema": {"type": "month"}}, "input_schema"),
        ({"input_schema": []}, "input_schema"),
        ({"status": "active"}, "input_schema"),
        ({"steps": [a_step("a", args={"numbers": {"$input": 3}})]}, "steps.0.args"),
        ({"steps": [a_step("a", args={"numbers": {"$result": "b"}})]}, "steps.0.args"),
    ],
)
def test_a_workflow_whose_input_could_never_work_is_refused(client, office, fields, field):
    refused = draft_with_schema(client, office, **fields)
    assert refused.status_code == 400
    assert field in refused.json()["errors"]
    assert not Workflow.objects.exists()
