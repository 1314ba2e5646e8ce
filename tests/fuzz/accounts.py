"""The accounts that fuzz a running system, and the objects they own."""

import json
import subprocess
import sys
from typing import Any

import httpx

from exports import sample_replay
from tests.acceptance.system import CHECKOUT, Client, System
from tests.fuzz.object_ids import Ids

OWNER, STAFF = "fuzz-owner", "fuzz-staff"
# The system's manage.py runs this, because the API does not create accounts.
CREATE_ACCOUNTS = f"""
from django.contrib.auth.models import User
from django.utils import timezone
from jobs.models import ApiToken
for name, staff in (({OWNER!r}, False), ({STAFF!r}, True)):
    user, _ = User.objects.get_or_create(username=name, defaults={{"is_staff": staff}})
    print(ApiToken.issue(user, "fuzz", timezone.now())[1])
"""
DAILY = {"mode": "recurring", "pattern": "daily", "time": "09:00"}
SUM = {"task_id": "demo.sum", "args": {"numbers": [1, 2, 3]}}
LATER = "2030-01-01T00:00:00+09:00"


def create_accounts(system: System) -> dict[str, str]:
    """Creates both accounts, or new tokens for them. Returns the tokens by username."""
    command = [sys.executable, "manage.py", "shell", "-v", "0", "-c", CREATE_ACCOUNTS]
    received = subprocess.run(
        command, cwd=CHECKOUT, env=system.environment(), check=True, capture_output=True, text=True
    )
    return dict(zip((OWNER, STAFF), received.stdout.split(), strict=True))


def create_objects(client: Client) -> Ids:
    """Creates an office with an object of each kind, and the objects that belong to no office."""
    office = create(client, "/api/offices", {"name": "fuzz"})["id"]
    at = f"/api/offices/{office}"
    create(client, f"{at}/members", {"username": STAFF, "role": "viewer"})
    jobs = [create(client, f"{at}/jobs", {**SUM, **more})["id"] for more in ({}, *[{"run_at": LATER}] * 4)]
    batch = create(client, f"{at}/jobs", {"jobs": [SUM]})
    webhook = create(client, f"{at}/webhooks", {"url": "https://hooks.dure.example/", "enabled": False})
    rules = ({"kind": "cron", "cron": "0 9 * * *"}, {"kind": "interval", "every_seconds": 86_400})
    schedules = [create(client, "/api/schedules", {"name": "fuzz", **SUM, **rule})["id"] for rule in rules]
    flow = {"office": office, "name": "fuzz", "steps": [SUM], "schedule_config": DAILY}
    workflow = create(client, "/api/workflows", flow)["id"]
    library = {"name": "fuzz", "queue_library": "provisioning"}
    queues = [create(client, "/api/queues", library)["queue_id"] for _ in range(2)]
    step = create(client, f"/api/queues/{queues[0]}/jobs", {"forward_operation": "reserve_address"})
    replay = uploaded(client)
    return [
        ("office_id", "", [office]),
        ("job_id", "/api/offices", [*jobs, batch["jobs"][0]["id"]]),
        ("batch_id", "", [batch["batch"]["id"]]),
        ("webhook_id", "", [webhook["id"]]),
        ("username", "", [STAFF]),
        ("schedule_id", "", schedules),
        ("task_id", "/api/tasks", ["demo.sum"]),
        ("execution_id", "", [run["execution_id"] for run in listed(client, "/api/executions")]),
        ("workflow_id", "", [workflow]),
        ("run_id", "", [create(client, "/api/workflow/execute", {"workflow_id": workflow})["id"]]),
        ("queue_id", "", queues),
        ("job_id", "/api/queues", [step["job_id"]]),
        ("name", "/api/libraries", ["provisioning"]),
        ("replay_id", "", [replay]),
        ("job_id", "/api/jobs", [create(client, f"/api/replays/{replay}/exports/thumbnail")["jobId"]]),
    ]


def create_spare_objects(client: Client) -> Ids:
    """Creates the same objects again, with an empty office and an unused replay, to be deleted."""
    more = {
        "office_id": create(client, "/api/offices", {"name": "empty"})["id"],
        "replay_id": uploaded(client),
    }
    result = create_objects(client)
    return [
        (name, below, [*values, *([more[name]] if name in more else [])]) for name, below, values in result
    ]


def create(client: Client, path: str, body: dict[str, Any] | None = None) -> Any:
    answer = client.post(path, body)
    assert answer.status < 300, (path, answer.body)
    return json.loads(answer.body)


def listed(client: Client, path: str) -> Any:
    return client.get(f"{path}?page_size=3").json["results"]


def uploaded(client: Client, title: str = "fuzz", file_name: str = "fuzz.jsonl", seconds: float = 1.0) -> int:
    answer = httpx.post(
        f"{client.base_url}/api/replays",
        headers=client.headers,
        data={"title": title},
        files={"file": (file_name, "\n".join(sample_replay.event_log(seconds)))},
        timeout=30,
        trust_env=False,
    )
    return int(answer.raise_for_status().json()["replayId"])
