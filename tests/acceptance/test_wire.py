"""What clients read, compared with tests/golden: frames of sockets, bodies of webhooks, the commands' --json.

Ids, times, numbers and names of workers are replaced by their kind. `DURE_WRITE_GOLDEN=1` writes the files
anew: do that only when the contract changes, and say so in CHANGELOG.md.
"""

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from websockets.sync.client import ClientConnection, connect

from tests.acceptance.system import CHECKOUT, System
from tests.acceptance.test_exports import ended, exported, log, uploaded
from tests.acceptance.test_operators import shell, typed
from tests.acceptance.test_steps import provisioning
from tests.integration.webhook_receiver import receiving
from tests.unit.process_tools import eventually

GOLDEN = CHECKOUT / "tests" / "golden"
UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(\+09:00|Z|\+00:00)")
WORKER = re.compile(r"\w+@[\w.-]+")
HEX = re.compile(r"\b[0-9a-f]{32,64}\b")
ADDRESS = re.compile(r"\b10\.\d+\.\d+\.\d+\b|127\.0\.0\.1:\d+")
# Their numbers do not belong to the form of an answer.
EXACT_NUMBERS = ("attempt", "priority", "max_retries", "retry_count", "timeout_ms", "progress")


def normalize(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: normalize(item, name) for name, item in sorted(value.items())}
    if isinstance(value, list):
        return [normalize(item, key) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return value if key in EXACT_NUMBERS else "<number>"
    text = TIME.sub(r"<time\1>", str(value))
    for pattern, kind in ((UUID, "<uuid>"), (WORKER, "<worker>"), (HEX, "<hex>"), (ADDRESS, "<address>")):
        text = pattern.sub(kind, text)
    # An operation's key is its queue, run and job.
    text = re.sub(r"\b(vol|machine)-\d+-\d+-", r"\1-<number>-<number>-", text)
    return re.sub(r"/(jobs|queues|exports|replays)/\d+", r"/\1/<number>", text)


def compare(name: str, actual: Any) -> None:
    path = GOLDEN / f"{name}.json"
    text = json.dumps(actual, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    if os.environ.get("DURE_WRITE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert json.loads(text) == json.loads(Path(path).read_text())


def opened(stack: System, path: str) -> ClientConnection:
    address = stack.base_url.replace("http", "ws", 1) + path
    return connect(address, additional_headers=stack.client("alice").headers)


def snapshot(ws: ClientConnection) -> dict[str, Any]:
    """The first frame. It is taken when the socket opens, so wait for it before anything is changed."""
    frame = json.loads(ws.recv(timeout=60))
    return {frame["type"]: normalize(frame)}


def frames(ws: ClientConnection, is_last: Any) -> dict[str, Any]:
    """The first frame of each type, up to the frame that ends the wait."""
    first: dict[str, Any] = {}
    while True:
        frame = json.loads(ws.recv(timeout=60))
        first.setdefault(frame["type"], normalize(frame))
        if is_last(frame):
            return first


@pytest.fixture
def workplace(stack: System):
    """An office without other jobs and webhooks."""
    alice = stack.client("alice")
    made = alice.post("/api/offices", {"name": "Wire"})
    yield f"/api/offices/{made.json['id']}"
    alice.send("DELETE", f"/api/offices/{made.json['id']}")


JOBS = [
    {"ref": "sum", "task_id": "demo.sum", "args": {"numbers": [1, 2]}},
    {"ref": "fail", "task_id": "demo.fail", "args": {"message": "No space left."}, "max_retries": 0},
    {
        "ref": "follows",
        "task_id": "demo.sum",
        "args": {"numbers": []},
        "depends_on": ["fail"],
        "on_dependency_failure": "fail",
    },
    {
        "ref": "flaky",
        "task_id": "demo.flaky",
        "args": {"failures": 1},
        "max_retries": 1,
        "retry_base_delay": 1000,
    },
    {
        "ref": "slow",
        "task_id": "demo.sleep",
        "args": {"seconds": 60},
        "timeout_ms": 1000,
        "max_retries": 1,
        "retry_base_delay": 1000,
    },
]


# For each type the job whose webhook is compared, by its ref: deliveries arrive in any order.
WEBHOOKS = [
    ("job_ready", "sum"),
    ("job_started", "sum"),
    ("job_completed", "sum"),
    ("job_failed", "fail"),
    ("job_retrying", "flaky"),
    ("job_timeout", "slow"),
    ("job_cancelled", None),
    ("batch_completed", None),
]


def test_events_of_an_office_and_bodies_of_webhooks_have_the_frozen_form(
    stack: System, workplace: str
) -> None:
    alice = stack.client("alice")
    office = workplace.rsplit("/", 1)[1]
    with receiving() as receiver, opened(stack, f"/ws/offices/{office}/events") as ws:
        received = snapshot(ws)
        hook = alice.post(
            f"{workplace}/webhooks", {"url": receiver.url, "event_types": [kind for kind, _ in WEBHOOKS]}
        )
        assert hook.status == 201, hook.body
        tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
        waiting = alice.post(
            f"{workplace}/jobs",
            {"task_id": "demo.sum", "args": {"numbers": []}, "run_at": tomorrow},
        )
        assert waiting.status == 201, waiting.body
        cancelled = alice.post(f"{workplace}/jobs/{waiting.json['id']}/cancel", {"reason": "not needed"})
        assert cancelled.status == 202, cancelled.body
        submitted = alice.post(f"{workplace}/jobs", {"jobs": JOBS, "batch": {"name": "wire"}})
        assert submitted.status == 201, submitted.body
        received |= frames(ws, lambda frame: frame["type"] == "batch_completed")
        compare("socket_office_events", received)
        bodies: dict[str, Any] = {}

        def has_all() -> bool:
            for body in receiver.verified(hook.json["secret"]):
                if (body["type"], body["data"].get("ref")) in WEBHOOKS:
                    bodies.setdefault(body["type"], normalize(body))
            return len(bodies) == len(WEBHOOKS)

        assert eventually(has_all, 60), sorted(bodies)
        compare("webhook_bodies", bodies)
        heads = sorted({name for head, _ in receiver.messages for name in head})
        compare("webhook_headers", heads)


def test_frames_about_exports_have_the_frozen_form(stack: System) -> None:
    alice = stack.client("alice")
    received: dict[str, Any] = {}
    with opened(stack, "/ws/jobs") as ws:
        received["snapshot"] = sorted(json.loads(ws.recv(timeout=60)))
        done = exported(stack, uploaded(stack, log(4)), "mp4")
        received |= frames(ws, lambda frame: frame["type"] == "job.completed" and frame["jobId"] == done)
        ended(stack, done)
        gone = exported(stack, uploaded(stack, log(600)), "mp4")
        assert eventually(lambda: alice.get(f"/api/jobs/{gone}").json["status"] == "RUNNING", 60)
        alice.post(f"/api/jobs/{gone}/cancel")
        received |= frames(ws, lambda frame: frame["type"] == "job.cancelled")
        lost = exported(stack, uploaded(stack, log(600)), "mp4")
        assert eventually(lambda: alice.get(f"/api/jobs/{lost}").json["status"] == "RUNNING", 60)
        with Redis.from_url(shell(stack)["REDIS_URL"]) as redis:
            failure = {"jobId": str(lost), "status": "FAILED", "resultUri": "", "checksum": ""}
            redis.xadd("job.results", failure | {"errorCode": "RENDER_FAILED", "errorMessage": "It broke."})
        received |= frames(ws, lambda frame: frame["type"] == "job.failed")
    received.pop("heartbeat", None)
    compare("socket_exports", {kind: received[kind] for kind in received if kind != "job.progress"})
    assert set(received["job.progress"]) == set(received["job.completed"])


def test_frames_about_a_step_queue_have_the_frozen_form(stack: System) -> None:
    path = provisioning(stack.client("alice"), "wire", fail=True)
    with opened(stack, path.replace("/api", "/ws")) as ws:
        received = snapshot(ws)
        assert stack.client("alice").post(f"{path}/run").status == 202
        received |= frames(ws, lambda frame: frame["type"] == "queue_finished")
    compare("socket_step_queue", received)


def document(stack: System, *words: str) -> Any:
    answer = typed(stack, "python", "manage.py", *words, "--json")
    assert answer.stdout, answer.stderr
    return normalize(json.loads(answer.stdout))


def test_documents_of_the_commands_have_the_frozen_form(stack: System, workplace: str) -> None:
    alice = stack.client("alice")
    office = workplace.rsplit("/", 1)[1]
    assert alice.send("PATCH", f"{workplace}/scheduler/config", {"paused": True}).status == 200
    job = alice.post(f"{workplace}/jobs", {"task_id": "demo.sum", "args": {"numbers": [1]}}).json["id"]
    rule = {
        "name": "wire",
        "task_id": "demo.sum",
        "args": {"numbers": [1]},
        "kind": "cron",
        "cron": "0 9 * * *",
    }
    schedule = alice.post("/api/schedules", rule).json["id"]
    run = alice.post("/api/tasks/demo.sum/run", {"args": {"numbers": [1, 2]}}).json["execution_id"]
    assert eventually(lambda: alice.get(f"/api/executions/{run}").json["status"] == "SUCCESS")
    # Other tests run the same Task.
    newest = ("--task", "demo.sum", "--trigger", "MANUAL", "--limit", "1")
    listing = document(stack, "executions", "list", *newest)
    documents = {
        "jobs list": document(stack, "jobs", "list", "--office", office),
        "jobs show": document(stack, "jobs", "show", job),
        "jobs reprioritise": document(stack, "jobs", "reprioritise", job, "--priority", "5", "--yes"),
        "jobs cancel, dry run": document(stack, "jobs", "cancel", job, "--dry-run"),
        "jobs cancel": document(stack, "jobs", "cancel", job, "--yes"),
        "jobs retry": document(stack, "jobs", "retry", job, "--yes"),
        "executions list": listing | {"more": "<boolean>"},
        "executions show": document(stack, "executions", "show", run),
        "schedules show": document(stack, "schedules", "show", schedule),
        "schedules pause": document(stack, "schedules", "pause", schedule, "--yes"),
        "schedules resume": document(stack, "schedules", "resume", schedule, "--yes"),
        "schedules delete": document(stack, "schedules", "delete", schedule, "--yes"),
    }
    compare("commands", documents)
    report = json.loads(typed(stack, "python", "manage.py", "doctor", "--json").stdout)
    compare("doctor", {"keys": sorted(report), "finding": sorted(report["findings"][0])})
