"""Schedules and workflows in the real system: created by the API, fired by beat, executed by workers."""

from tests.acceptance.timetable import SUM, executions, runs, workflow_body
from tests.unit.process_tools import eventually


def test_an_interval_is_edited_paused_and_deleted_without_a_restart(stack):
    alice = stack.client("alice")
    fields = {"name": "tick", "kind": "interval", "every_seconds": 3600, "overlap": "allow", **SUM}
    schedule = alice.create("/api/schedules", fields)
    path = f"/api/schedules/{schedule['id']}"
    assert alice.send("PATCH", path, {"every_seconds": 1}).status == 200
    assert eventually(lambda: len(executions(alice, schedule, "&status=SUCCESS")) >= 3)
    assert alice.post(f"{path}/pause").json["next_run_at"] is None
    turns = alice.get(f"{path}/turns").json["count"]
    other = alice.create("/api/schedules", {**fields, "every_seconds": 1})
    assert eventually(lambda: len(executions(alice, other)) >= 3)
    assert alice.get(f"{path}/turns").json["count"] == turns
    for item in (schedule, other):
        assert alice.send("DELETE", f"/api/schedules/{item['id']}").status == 204


def test_an_immediate_workflow_runs_on_save_and_a_manual_run_answers_results(stack):
    alice = stack.client("alice")
    saved = alice.create("/api/workflows", workflow_body(stack, schedule_config={"mode": "immediate"}))
    assert eventually(lambda: runs(alice, saved, "completed"), 60)
    by_hand = alice.post("/api/workflow/execute", {"workflow_id": saved["id"], "wait": 60})
    assert (by_hand.status, by_hand.json["status"]) == (200, "completed"), by_hand.body
    assert [job["result"] for job in by_hand.json["results"]] == [42, 42]


def test_the_monitor_shows_that_work_is_consumed_and_by_whom(stack):
    alice = stack.client("alice")

    def consumed() -> bool:
        # Other tests of the system leave roles that no worker serves any more.
        queues = alice.get("/api/scheduler/monitor").json["queues"]
        return {"PO", "Architect", "FE", "BE", "QA", "DevOps", "default"} <= {
            queue["role"] for queue in queues if queue["canary_seconds"] is not None
        }

    assert eventually(consumed, 60), alice.get("/api/scheduler/monitor").json["queues"]
    monitor = alice.get("/api/scheduler/monitor").json
    assert {role for worker in monitor["workers"] for role in worker["roles"]} >= {"FE", "BE", "default"}
    assert monitor["delayed"] == []
