"""The demonstration data of schedules, workflows and step queues."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from jobs.models import Office
from jobs.sql import call
from scheduler.models import Schedule, Workflow
from scheduler.schedules import lifecycle as schedules
from scheduler.sql import reports
from scheduler.steps import lifecycle as step_queues
from scheduler.steps import queues
from scheduler.steps.models import StepQueue
from scheduler.steps.states import QueueState
from scheduler.workflows import lifecycle as workflows
from scheduler.workflows import runs

SCHEDULES: tuple[dict[str, Any], ...] = (
    {
        "name": "weekday report",
        "task_id": "demo.sum",
        "args": {"numbers": [20, 22]},
        "kind": "cron",
        "cron": "0 9 * * MON-FRI",
    },
    # It may run at the same time as the report, which has the same Task.
    {
        "name": "counter reading",
        "overlap": "allow",
        "task_id": "demo.sum",
        "args": {"numbers": [17, 4]},
        "kind": "interval",
        "every_seconds": 120,
    },
)
WORKFLOW: dict[str, Any] = {
    "name": "close of the day",
    "status": "active",
    "schedule_config": {"mode": "recurring", "pattern": "daily", "time": "18:00"},
    "steps": [
        {"ref": "sales", "task_id": "demo.sum", "args": {"numbers": [120, 80]}},
        {"ref": "returns", "task_id": "demo.sleep", "args": {"seconds": 4}},
        {
            "ref": "balance",
            "task_id": "demo.sum",
            "args": {"numbers": [200]},
            "depends_on": ["sales", "returns"],
        },
    ],
}
# The daily schedule starts in the past, so beat backfills a missed run at once.
MISSED = timedelta(days=4)
# Whether the last operation of each queue fails, so that the queue rolls back.
QUEUES = {"demo-1": False, "demo-2": True}


def fill(owner: User, office: Office, now: datetime) -> None:
    """Create the missing parts, each completely or not at all. A second call changes nothing."""
    for values in SCHEDULES:
        if not Schedule.objects.filter(owner=owner, name=values["name"]).exists():
            schedules.create(values, owner=owner, now=now - MISSED if values["kind"] == "cron" else now)
    if not Workflow.objects.filter(office=office, name=WORKFLOW["name"]).exists():
        with transaction.atomic():
            workflow = workflows.create(office, WORKFLOW, now=now)
            runs.run_now(workflow.pk, user_id=owner.pk, now=now)
    for name, fails in QUEUES.items():
        if not StepQueue.objects.filter(owner=owner, name=name).exists():
            with transaction.atomic():
                _provision(name, owner, now, fails=fails)
    # Count the demo's history now, for the chart of the overview; beat does so once a minute.
    call.change(reports.ROLL_UP_MINUTES, {"now": now})


def remove(owner: User) -> None:
    for queue in StepQueue.objects.filter(owner=owner):
        if queue.state == QueueState.RUNNING:
            step_queues.cancel(queue.pk)
        queues.delete(queue.pk)


def _provision(name: str, owner: User, now: datetime, *, fails: bool) -> None:
    values = {"queue_library": "provisioning", "name": name}
    queue = queues.create(values, owner=owner, office=None, now=now)
    for forward, backward, arguments in (
        ("reserve_address", "release_address", {"network": "10.20.0.0/24"}),
        ("create_volume", "delete_volume", {"gigabytes": 40}),
        ("start_machine", "stop_machine", {"cpus": 4}),
        ("register_name", "remove_name", {"name": name, "fail": fails}),
    ):
        step = {"forward_operation": forward, "backward_operation": backward, "arguments": arguments}
        queues.enqueue(queue.pk, step)
    step_queues.run(queue.pk)
