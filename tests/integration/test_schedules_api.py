"""Schedules, Executions and manual runs through the API."""

import pytest

from jobs.errors import Conflict
from jobs.models import Execution
from jobs.states import Act, ExecutionStatus, Trigger
from scheduler.manual_runs import run_schedule
from scheduler.models import Schedule
from tests.factories import a_job, a_member, an_office
from tests.integration.rest_support import client_of, make_user
from tests.schedule_factories import a_schedule, claim, end, executions, fire

pytestmark = pytest.mark.django_db

JSON = "application/json"
SUM = {"name": "nightly", "task_id": "demo.sum", "args": {"numbers": [1]}}
CRON = {**SUM, "kind": "cron", "cron": "0 9 * * 1-5"}


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def client(alice):
    return client_of(alice)


def post(client, path, body=None, **headers):
    return client.post(path, body or {}, content_type=JSON, headers=headers)


def patch(client, path, body):
    return client.patch(path, body, content_type=JSON)


def test_the_form_creates_a_schedule_and_describes_its_rule(client):
    answer = post(client, "/api/schedules", CRON)
    assert answer.status_code == 201
    made = answer.json()
    assert answer["Location"].endswith(f"/api/schedules/{made['id']}")
    assert made["words"] == {"ko": "매주 월요일부터 금요일까지 09:00", "en": "at 09:00, Monday to Friday"}
    defaults = {"timezone": "Asia/Seoul", "overlap": "skip", "catch_up": "latest", "max_retries": 3}
    assert {name: made[name] for name in defaults} == defaults
    assert made["next_run_at"].endswith("T09:00:00+09:00")
    assert client.get(f"/api/schedules/{made['id']}").json() == made


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"cron": "0 0 9 * * 1-5 *"}, "cron"),
        ({"cron": None}, "cron"),
        ({"every_seconds": 5}, "every_seconds"),
        ({"kind": "interval", "cron": None, "every_seconds": 0}, "every_seconds"),
        ({"kind": "daily"}, "kind"),
        ({"timezone": "Mars"}, "timezone"),
        ({"task_id": "no.such"}, "task_id"),
        ({"args": {"numbers": "x"}}, "args"),
        ({"max_retries": 101}, "max_retries"),
        ({"overlap": "queue"}, "overlap"),
        ({"name": ""}, "name"),
    ],
)
def test_a_refusal_names_the_field(client, change, field):
    answer = post(client, "/api/schedules", CRON | change)
    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == [field]
    assert not Schedule.objects.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("grace", value) for value in (0, -1, 1.5, "x", None, True, 10**9)),
        *(("timeout_ms", value) for value in (0, -1, "x", 1.5, 10**12)),
        *(("retry_base_delay", value) for value in (-1, "x", 1.5, 10**12)),
        *(("retry_backoff", value) for value in ("", "none", 1)),
        *(("on_lost", value) for value in ("", "forget", 1)),
        *(("calendar", value) for value in ("x", 1, "0199c0de-0000-7000-8000-000000000015")),
        *(("notify_after_failures", value) for value in (0, -1, "3", 1.5, True, 1001)),
        *(("notify_after_missed", value) for value in (0, -1, "3", 1.5, True, 1001)),
        *(("notify_office", value) for value in ("x", 1, "0199c0de-0000-7000-8000-000000000015")),
    ],
)
def test_a_bad_policy_is_refused_and_nothing_is_written(client, field, value):
    refused = post(client, "/api/schedules", {**CRON, field: value})
    assert (refused.status_code, list(refused.json()["errors"])) == (400, [field])
    assert not Schedule.objects.exists()
    path = f"/api/schedules/{post(client, '/api/schedules', CRON).json()['id']}"
    before = client.get(path).json()
    assert patch(client, path, {field: value}).status_code == 400
    assert client.get(path).json() == before


def test_the_policies_of_a_schedule_are_saved_and_reset_by_a_put(client):
    policies = {
        "grace": 600,
        "timeout_ms": 5_000,
        "retry_backoff": "linear",
        "retry_base_delay": 0,
        "on_lost": "fail",
    }
    made = post(client, "/api/schedules", {**CRON, **policies}).json()
    assert {name: made[name] for name in policies} == policies
    replaced = client.put(f"/api/schedules/{made['id']}", CRON, content_type=JSON).json()
    assert {name: replaced[name] for name in policies} == dict.fromkeys(policies) | {"grace": 60}


def test_the_notifications_of_a_schedule_are_saved_and_reset_by_a_put(client, alice):
    values = {"notify_after_failures": 3, "notify_after_missed": 5, "notify_office": str(an_office(alice).id)}
    made = post(client, "/api/schedules", {**CRON, **values}).json()
    assert {name: made[name] for name in values} == values
    assert made["failing_since"] is None
    replaced = client.put(f"/api/schedules/{made['id']}", CRON, content_type=JSON).json()
    assert {name: replaced[name] for name in values} == dict.fromkeys(values)


def test_all_schedules_of_a_task_are_paused_and_resumed(client, alice):
    mine = [a_schedule(owner=alice) for _ in range(2)]
    other_task = a_schedule(owner=alice, task_id="demo.sleep", args={"seconds": 1})
    others = [a_schedule(owner=make_user("bob")), other_task]
    body = {"task_id": "demo.sum"}
    assert post(client, "/api/schedules/pause", body).json() == {"paused": 2}
    assert post(client, "/api/schedules/pause", body).json() == {"paused": 0}
    assert set(Schedule.objects.filter(enabled=False)) == set(mine)
    assert post(client, "/api/schedules/resume", body).json() == {"resumed": 2}
    facts = {"task_id": "demo.sum", "count": 2, "schedules": ["sums", "sums"]}
    assert list(alice.activity.order_by("id").values_list("actor", "act", "details")) == [
        ("alice", Act.SCHEDULES_PAUSED, facts),
        ("alice", Act.SCHEDULES_RESUMED, facts),
    ]
    assert Schedule.objects.filter(next_run_at__isnull=False).count() == len(mine + others)
    for bad in ({}, {"task_id": 1.5}, {"task_id": ""}, {**body, "all": True}):
        assert post(client, "/api/schedules/pause", bad).status_code == 400
    assert Schedule.objects.filter(enabled=True).count() == len(mine + others)


def test_a_cron_rule_with_seconds_is_previewed_saved_and_fired(client):
    rule = {"kind": "cron", "cron": "*/20 * * * * *", "count": 3}
    preview = post(client, "/api/schedules/preview", rule).json()
    assert preview["words"] == {"ko": "20초마다", "en": "every 20 seconds"}
    assert {time[17:19] for time in preview["next"]} == {"00", "20", "40"}
    made = post(client, "/api/schedules", {**CRON, "cron": "*/20 * * * * *", "overlap": "allow"}).json()
    schedule = Schedule.objects.get(id=made["id"])
    fire(schedule, late=20.5)
    fire(schedule, late=41)
    times = [run.scheduled_for for run in executions(schedule)]
    assert [(time - times[0]).total_seconds() for time in times] == [0, 20]


def test_a_preview_marks_the_jumps_of_daylight_saving_time(client):
    rule = {"kind": "cron", "cron": "30 2 * * *", "timezone": "Europe/Berlin"}
    changes = post(client, "/api/schedules/preview", rule).json()["clock_changes"]
    assert [change["change"] for change in changes] in (["moved", "once"], ["once", "moved"])
    (moved,) = [change for change in changes if change["change"] == "moved"]
    assert moved["local_time"].endswith(" 02:30")
    assert moved["runs_at"][0].endswith("T10:00:00+09:00")
    korean = post(client, "/api/schedules/preview", rule | {"timezone": "Asia/Seoul"}).json()
    assert korean["clock_changes"] == []


def test_a_patch_changes_some_fields_and_a_put_replaces_all(client):
    made = post(client, "/api/schedules", CRON | {"max_retries": 9, "enabled": False}).json()
    path = f"/api/schedules/{made['id']}"
    patched = patch(client, path, {"name": "other"}).json()
    assert (patched["name"], patched["max_retries"], patched["enabled"]) == ("other", 9, False)
    body = {**CRON, "kind": "interval", "every_seconds": 90, "cron": None}
    put = client.put(path, body, content_type=JSON).json()
    assert (put["kind"], put["cron"], put["every_seconds"], put["max_retries"]) == ("interval", None, 90, 3)
    assert put["enabled"] is True


def test_a_schedule_is_paused_and_resumed(client):
    path = f"/api/schedules/{post(client, '/api/schedules', CRON).json()['id']}"
    assert post(client, f"{path}/pause").json()["next_run_at"] is None
    assert client.get(f"{path}/next").json()["next"] == []
    resumed = post(client, f"{path}/resume").json()
    assert (resumed["enabled"], resumed["next_run_at"] is None) == (True, False)


def test_the_next_times_of_a_saved_and_of_an_unsaved_rule(client):
    made = post(client, "/api/schedules", CRON).json()
    saved = client.get(f"/api/schedules/{made['id']}/next?count=3").json()
    rule = {"kind": "cron", "cron": "0 9 * * 1-5", "count": 3}
    preview = post(client, "/api/schedules/preview", rule).json()
    assert saved == preview
    assert len(saved["next"]) == 3
    assert client.get(f"/api/schedules/{made['id']}/next").json()["next"][:3] == saved["next"]
    for bad in ("0", "101", "x", "-1", "1.5"):
        assert client.get(f"/api/schedules/{made['id']}/next?count={bad}").status_code == 400


def test_a_deleted_schedule_is_gone_and_its_executions_stay_under_its_name(client, alice):
    schedule = a_schedule(owner=alice, name="nightly")
    fire(schedule)
    path, (run,) = f"/api/schedules/{schedule.id}", executions(schedule)
    assert client.delete(path).status_code == 204
    for gone in (path, f"{path}/next", f"{path}/turns"):
        assert client.get(gone).status_code == 404
    assert client.delete(path).status_code == 404
    assert post(client, f"{path}/resume").status_code == 404
    assert client.get("/api/schedules").json()["count"] == 0
    (row,) = client.get(f"/api/executions?schedule={schedule.id}").json()["results"]
    assert row == client.get(f"/api/executions/{run.id}").json()
    assert (row["schedule_id"], row["schedule_name"]) == (str(schedule.id), "nightly")
    assert client_of(make_user("mallory")).get(f"/api/executions/{run.id}").status_code == 404


def test_a_run_by_hand_of_a_schedule_is_in_its_history(client, alice):
    schedule = a_schedule(owner=alice, name="nightly", max_retries=1)
    fire(schedule)
    end(executions(schedule)[0])
    run = run_schedule(schedule)
    rows = client.get(f"/api/executions?schedule={schedule.id}").json()["results"]
    assert [row["trigger"] for row in rows] == ["MANUAL", "SCHEDULE"]
    assert (rows[0]["schedule_id"], rows[0]["schedule_name"]) == (str(schedule.id), "nightly")
    assert (rows[0]["execution_id"], rows[0]["max_retries"]) == (str(run), 1)
    turns = client.get(f"/api/schedules/{schedule.id}/turns").json()["results"]
    assert {turn["trigger"]: turn["execution_id"] for turn in turns}["MANUAL"] == str(run)
    with pytest.raises(Conflict):
        run_schedule(schedule)
    schedule.refresh_from_db()
    assert schedule.next_run_at is not None


def test_the_list_is_filtered_and_refuses_unknown_parameters(client, alice):
    a_schedule(owner=alice, name="one")
    a_schedule(owner=alice, name="two", task_id="demo.flaky", args={"failures": 1}, enabled=False)
    assert client.get("/api/schedules").json()["count"] == 2
    assert [row["name"] for row in client.get("/api/schedules?enabled=false").json()["results"]] == ["two"]
    assert [row["name"] for row in client.get("/api/schedules?task_id=demo.sum").json()["results"]] == ["one"]
    assert client.get("/api/schedules?nmae=one").status_code == 400


def test_the_scheduled_runs_of_a_schedule_are_listed(client, alice):
    schedule = a_schedule(owner=alice)
    fire(schedule, late=61)
    answer = client.get(f"/api/schedules/{schedule.id}/turns").json()
    assert [turn["turn"] for turn in answer["results"]] == ["run", "missed"]
    assert client.get(f"/api/schedules/{schedule.id}/turns?turn=missed").json()["count"] == 1


# --- manual runs -----------------------------------------------------------------------------------


def test_a_manual_run_makes_a_new_execution(client, alice):
    answer = post(client, "/api/tasks/demo.sum/run", {"args": {"numbers": [1, 2]}})
    assert answer.status_code == 202
    execution = Execution.objects.get(id=answer.json()["execution_id"])
    assert (execution.trigger, execution.max_retries) == (Trigger.MANUAL, 3)
    assert execution.args == {"numbers": [1, 2]}
    document = client.get(answer["Location"]).json()
    assert (document["task_id"], document["trigger"], document["status"]) == ("demo.sum", "MANUAL", "PENDING")


def test_a_manual_run_is_refused_while_one_has_not_ended(client):
    first = post(client, "/api/tasks/demo.sum/run", {"args": {"numbers": [1]}}).json()["execution_id"]
    refused = post(client, "/api/tasks/demo.sum/run", {"args": {"numbers": [1]}})
    assert (refused.status_code, refused.json()["code"]) == (409, "already_running")
    run = claim(Execution.objects.get(id=first))
    assert post(client, "/api/tasks/demo.sum/run", {"args": {"numbers": [1]}}).status_code == 409
    run.finish()
    assert post(client, "/api/tasks/demo.sum/run", {"args": {"numbers": [1]}}).status_code == 202


def test_a_scheduled_run_of_the_task_refuses_a_manual_one_and_a_job_does_not(client, alice):
    a_job(an_office())
    schedule = a_schedule(owner=alice)
    fire(schedule)
    (run,) = executions(schedule)
    refused = post(client, "/api/tasks/demo.sum/run", {"args": {"numbers": [1]}})
    assert (refused.status_code, refused.json()["execution_id"]) == (409, str(run.id))
    # It goes on, and counts, after its schedule was deleted.
    assert client.delete(f"/api/schedules/{schedule.id}").status_code == 204
    assert post(client, "/api/tasks/demo.sum/run", {"args": {"numbers": [1]}}).status_code == 409
    end(run)
    assert post(client, "/api/tasks/demo.sum/run", {"args": {"numbers": [1]}}).status_code == 202


def test_a_manual_run_is_accepted_while_others_run_the_task_or_a_schedule_allows_overlap(client, alice):
    bob = make_user("bob")
    for schedule in (a_schedule(owner=bob), a_schedule(), a_schedule(owner=alice, overlap="allow")):
        fire(schedule)
        assert len(executions(schedule)) == 1
    body = {"args": {"numbers": [1]}}
    assert post(client_of(make_user("carol")), "/api/tasks/demo.sum/run", body).status_code == 202
    assert post(client, "/api/tasks/demo.sum/run", body).status_code == 202


def test_a_run_of_another_task_is_accepted_meanwhile(client):
    post(client, "/api/tasks/demo.sum/run", {"args": {"numbers": [1]}})
    assert post(client, "/api/tasks/demo.flaky/run", {"args": {"failures": 1}}).status_code == 202


def test_an_unknown_task_is_not_found_and_bad_args_are_refused(client):
    assert post(client, "/api/tasks/no.such/run").status_code == 404
    refused = post(client, "/api/tasks/demo.sum/run", {"args": {"numbers": "x"}})
    assert list(refused.json()["errors"]) == ["args"]


# --- executions ------------------------------------------------------------------------------------


def test_an_execution_has_the_fields_of_the_v1_contract(client, alice):
    schedule = a_schedule(owner=alice)
    fire(schedule)
    (execution,) = executions(schedule)
    claim(execution, "w@here").fail(error="broken", traceback="File x\x00", delay_ms=60_000)
    document = client.get(f"/api/executions/{execution.id}").json()
    (listed,) = client.get("/api/executions").json()["results"]
    assert listed["attempts"][0]["traceback"] is None
    assert document["schedule_id"] == str(schedule.id)
    assert (document["status"], document["retry_count"], document["error"]) == ("PENDING", 1, "broken")
    assert document["next_retry_at"] is not None
    assert document["instance"] == "w@here"
    (attempt,) = document["attempts"]
    assert (attempt["number"], attempt["outcome"], attempt["error"]) == (1, "failure", "broken")
    assert attempt["traceback"] == "File x\ufffd"
    expected = {
        *("execution_id", "task_id", "trigger", "schedule_id", "schedule_name", "scheduled_for"),
        *("created_at", "started_at", "finished_at", "next_retry_at", "locked_until", "instance"),
        *("status", "retry_count", "max_retries", "attempts", "args", "result", "error"),
    }
    assert set(document) == expected


def test_executions_are_filtered(client, alice):
    first, second = (a_schedule(owner=alice, overlap="allow") for _ in range(2))
    fire(first)
    end(executions(second)[0])
    post(client, "/api/tasks/demo.flaky/run", {"args": {"failures": 1}})

    def count(query):
        return client.get(f"/api/executions?{query}").json()["count"]

    assert count("") == 3
    assert count(f"schedule={first.id}") == 1
    assert count("trigger=MANUAL") == 1
    assert count("status=SUCCESS") == 1
    assert count("status=SUCCESS&status=PENDING") == 3
    assert count("task_id=demo.flaky") == 1
    assert count("from=2100-01-01T00:00:00Z") == 0
    assert count("to=2100-01-01T00:00:00Z") == 3
    assert client.get("/api/executions?status=running").status_code == 400


def test_an_execution_is_cancelled_once(client, alice):
    schedule = a_schedule(owner=alice)
    fire(schedule)
    path = f"/api/executions/{executions(schedule)[0].id}"
    answer = post(client, f"{path}/cancel")
    assert (answer.status_code, answer.json()["status"]) == (202, "CANCELLED")
    assert post(client, f"{path}/cancel").status_code == 409


def test_cancelling_the_execution_of_a_job_needs_a_role_that_may_act(alice):
    office = an_office(alice)
    job = a_job(office)
    assert job.execution is not None
    path = f"/api/executions/{job.execution.id}"
    member = a_member(office, "viewer")
    assert client_of(member).get(path).status_code == 200
    assert post(client_of(member), f"{path}/cancel").status_code == 403
    assert post(client_of(alice), f"{path}/cancel").status_code == 202
    job.execution.refresh_from_db()
    assert job.execution.status == ExecutionStatus.CANCELLED


# --- whose ------------------------------------------------------------------------------------------


def test_staff_have_read_only_access_and_superusers_may_act(alice):
    schedule = a_schedule(owner=alice)
    fire(schedule)
    path, run = f"/api/schedules/{schedule.id}", f"/api/executions/{executions(schedule)[0].id}/cancel"
    staff = client_of(make_user("staff", is_staff=True))
    assert staff.get(path).status_code == 200
    assert staff.get("/api/executions").json()["count"] == 1
    assert patch(staff, path, {"name": "x"}).status_code == 403
    assert post(staff, f"{path}/pause").status_code == 403
    assert staff.delete(path).status_code == 403
    assert post(staff, run).status_code == 403
    root = client_of(make_user("root", is_staff=True, is_superuser=True))
    assert post(root, run).status_code == 202
    assert patch(root, path, {"name": "x"}).status_code == 200
