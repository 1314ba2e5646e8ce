"""Schedules and workflows for certain minutes: created at the start, checked after those minutes."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.acceptance.system import Client, System

SUM = {"task_id": "demo.sum", "args": {"numbers": [19, 23]}}


@dataclass(frozen=True)
class Timetable:
    """A schedule that is due at a minute, and a workflow that was moved from there to the next one."""

    minute: datetime
    later: datetime
    schedule: dict[str, Any]
    workflow: dict[str, Any]


def make(stack: System) -> Timetable:
    alice = stack.client("alice")
    # The first full minute that leaves time to create and edit objects before it, on a busy machine too.
    minute = (now(alice) + timedelta(seconds=90)).replace(second=0, microsecond=0)
    later = minute + timedelta(minutes=1)
    cron = {"name": "minute", "kind": "cron", "cron": f"{minute.minute} {minute.hour} * * *", **SUM}
    schedule = alice.create("/api/schedules", cron)
    assert datetime.fromisoformat(schedule["next_run_at"]) == minute
    # A separate office, because other tests read the newest rows of the demonstration's office.
    office = alice.create("/api/offices", {"name": "Timetable"})["id"]
    body = workflow_body(stack, office=office, schedule_config=daily(minute))
    workflow = alice.create("/api/workflows", body)
    assert datetime.fromisoformat(workflow["next_run_at"]) == minute
    edited = alice.send("PATCH", f"/api/workflows/{workflow['id']}", {"schedule_config": daily(later)}).json
    assert datetime.fromisoformat(edited["next_run_at"]) == later
    return Timetable(minute, later, schedule, workflow)


def now(client: Client) -> datetime:
    """The time of the system's clock."""
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
