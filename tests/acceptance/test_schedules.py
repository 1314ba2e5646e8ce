"""Schedules and workflows in the real system: made through the API, fired by its beat, run by its workers."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.acceptance.system import Client, System
from tests.unit.process_tools import eventually

SUM = {"task_id": "demo.sum", "args": {"numbers": [19, 23]}}


def made(client: Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(path, body)
    assert answer.status == 201, answer.body
    return dict(answer.json)


def now(client: Client) -> datetime:
    """By the system's own clock."""
    return datetime.fromisoformat(client.get("/api/scheduler/monitor").json["generated_at"])


def executions(client: Client, schedule: dict[str, Any], query: str = "") -> list[dict[str, Any]]:
    return list(client.get(f"/api/executions?schedule={schedule['id']}{query}").json["results"])


def runs(client: Client, workflow: dict[str, Any], status: str) -> list[dict[str, Any]]:
    return list(client.get(f"/api/workflows/{workflow['id']}/runs?status={status}").json["results"])


def workflow_body(stack: System, **fields: Any) -> dict[str, Any]:
    steps = [{"ref": "first", **SUM}, {"ref": "second", "depends_on": ["first"], **SUM}]
    return {"office": stack.office_id, "name": "acceptance", "status": "active", "steps": steps, **fields}


def daily(moment: datetime) -> dict[str, str]:
    return {"mode": "recurring", "pattern": "daily", "time": f"{moment:%H:%M}"}


@pytest.mark.timeout(240)
def test_a_cron_schedule_runs_in_its_minute_and_an_edited_workflow_at_the_new_time_only(stack):
    alice = stack.client("alice")
    # The first full minute that leaves time to make and edit things before it.
    minute = (now(alice) + timedelta(seconds=66)).replace(second=0, microsecond=0)
    cron = {"name": "minute", "kind": "cron", "cron": f"{minute.minute} {minute.hour} * * *", **SUM}
    schedule = made(alice, "/api/schedules", cron)
    assert datetime.fromisoformat(schedule["next_run_at"]) == minute
    workflow = made(alice, "/api/workflows", workflow_body(stack, schedule_config=daily(minute)))
    assert datetime.fromisoformat(workflow["next_run_at"]) == minute
    later = minute + timedelta(minutes=1)
    edited = alice.send("PATCH", f"/api/workflows/{workflow['id']}", {"schedule_config": daily(later)}).json
    assert datetime.fromisoformat(edited["next_run_at"]) == later

    assert eventually(lambda: executions(alice, schedule, "&status=SUCCESS"), 130), executions(
        alice, schedule
    )
    (execution,) = executions(alice, schedule)
    started = datetime.fromisoformat(execution["started_at"])
    assert datetime.fromisoformat(execution["scheduled_for"]) == minute
    assert timedelta(0) <= started - minute < timedelta(seconds=60)
    assert (execution["result"], execution["trigger"]) == (42, "SCHEDULE")

    assert eventually(lambda: runs(alice, workflow, "completed"), 130), alice.get(
        "/api/scheduler/monitor"
    ).body
    (run,) = runs(alice, workflow, "completed")
    assert datetime.fromisoformat(run["scheduled_time"]) == later
    assert [start["status"] for start in run["history"]] == ["completed"]
    (following,) = runs(alice, workflow, "pending")
    assert datetime.fromisoformat(following["scheduled_time"]) == later + timedelta(days=1)
    assert len(executions(alice, schedule)) == 1


def test_an_interval_is_edited_paused_and_deleted_without_a_restart(stack):
    alice = stack.client("alice")
    wish = {"name": "tick", "kind": "interval", "every_seconds": 3600, "overlap": "allow", **SUM}
    schedule = made(alice, "/api/schedules", wish)
    path = f"/api/schedules/{schedule['id']}"
    assert alice.send("PATCH", path, {"every_seconds": 1}).status == 200
    assert eventually(lambda: len(executions(alice, schedule, "&status=SUCCESS")) >= 3, 30)
    assert alice.post(f"{path}/pause").json["next_run_at"] is None
    turns = alice.get(f"{path}/turns").json["count"]
    other = made(alice, "/api/schedules", {**wish, "every_seconds": 1})
    assert eventually(lambda: len(executions(alice, other)) >= 3, 30)
    assert alice.get(f"{path}/turns").json["count"] == turns
    for one in (schedule, other):
        assert alice.send("DELETE", f"/api/schedules/{one['id']}").status == 204


def test_a_manual_run_is_refused_while_the_first_has_not_ended(stack):
    alice = stack.client("alice")
    body = {"args": {"seconds": 3}}
    assert eventually(lambda: alice.post("/api/tasks/demo.sleep/run", body).status == 202, 30)
    refused = alice.post("/api/tasks/demo.sleep/run", body)
    assert (refused.status, refused.json["code"]) == (409, "already_running")


def test_an_immediate_workflow_runs_as_it_is_saved_and_one_by_hand_answers_its_results(stack):
    alice = stack.client("alice")
    saved = made(alice, "/api/workflows", workflow_body(stack, schedule_config={"mode": "immediate"}))
    assert eventually(lambda: runs(alice, saved, "completed"), 30)
    by_hand = alice.post("/api/workflow/execute", {"workflow_id": saved["id"], "wait": 30})
    assert (by_hand.status, by_hand.json["status"]) == (200, "completed"), by_hand.body
    assert [job["result"] for job in by_hand.json["results"]] == [42, 42]


def test_the_monitor_shows_that_work_is_consumed_and_by_whom(stack):
    alice = stack.client("alice")

    def consumed() -> bool:
        queues = alice.get("/api/scheduler/monitor").json["queues"]
        return all(queue["canary_seconds"] is not None for queue in queues)

    assert eventually(consumed, 60), alice.get("/api/scheduler/monitor").body
    monitor = alice.get("/api/scheduler/monitor").json
    assert {role for worker in monitor["workers"] for role in worker["roles"]} >= {"FE", "BE", "default"}
    assert monitor["delayed"] == []
