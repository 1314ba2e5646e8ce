"""What clients read from the running system has the frozen form: frames of sockets and bodies of webhooks."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from redis import Redis
from websockets.sync.client import ClientConnection, connect

from exports.states import Phase
from tests.acceptance.system import System
from tests.acceptance.test_exports import ended, exported
from tests.acceptance.test_operators import shell
from tests.acceptance.test_steps import provisioning
from tests.golden import compare, normalize
from tests.integration.webhook_receiver import receiving
from tests.unit.process_tools import eventually


def opened(stack: System, path: str) -> ClientConnection:
    address = stack.base_url.replace("http", "ws", 1) + path
    return connect(address, additional_headers=stack.client("alice").headers)


def snapshot(ws: ClientConnection) -> dict[str, Any]:
    """The first frame. It is taken when the socket opens, so wait for it before anything is changed."""
    frame = json.loads(ws.recv(timeout=60))
    return {frame["type"]: normalize(frame)}


def frames(ws: ClientConnection, is_last: Any) -> dict[str, Any]:
    """The first frame of each type, up to the frame that ends the wait.

    On a busy machine a socket may be open for longer than the time between two heartbeats.
    """
    first: dict[str, Any] = {}
    while True:
        frame = json.loads(ws.recv(timeout=60))
        if frame["type"] != "heartbeat":
            first.setdefault(frame["type"], normalize(frame))
        if is_last(frame):
            return first


@pytest.fixture
def workplace(stack: System):
    """An office without other jobs and webhooks."""
    alice = stack.client("alice")
    made = alice.create("/api/offices", {"name": "Wire"})
    yield f"/api/offices/{made['id']}"
    alice.send("DELETE", f"/api/offices/{made['id']}")


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
        kinds = [kind for kind, _ in WEBHOOKS]
        hook = alice.create(f"{workplace}/webhooks", {"url": receiver.url, "event_types": kinds})
        tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
        waits = {"task_id": "demo.sum", "args": {"numbers": []}, "run_at": tomorrow}
        waiting = alice.create(f"{workplace}/jobs", waits)
        alice.create(f"{workplace}/jobs/{waiting['id']}/cancel", {"reason": "not needed"})
        alice.create(f"{workplace}/jobs", {"jobs": JOBS, "batch": {"name": "wire"}})
        received |= frames(ws, lambda frame: frame["type"] == "batch_completed")
        compare("socket_office_events", received)
        bodies: dict[str, Any] = {}

        def has_all() -> bool:
            for body in receiver.verified(hook["secret"]):
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
        done = exported(stack, 4)
        received |= frames(ws, lambda frame: frame["type"] == "job.completed" and frame["jobId"] == done)
        ended(stack, done)
        gone = exported(stack, 600)
        assert eventually(lambda: alice.get(f"/api/jobs/{gone}").json["status"] == "RUNNING", 60)
        alice.post(f"/api/jobs/{gone}/cancel")
        received |= frames(ws, lambda frame: frame["type"] == "job.cancelled")
        lost = exported(stack, 600)
        assert eventually(lambda: alice.get(f"/api/jobs/{lost}").json["status"] == "RUNNING", 60)
        with Redis.from_url(shell(stack)["REDIS_URL"]) as redis:
            failure = {"jobId": str(lost), "status": "FAILED", "resultUri": "", "checksum": ""}
            redis.xadd("job.results", failure | {"errorCode": "RENDER_FAILED", "errorMessage": "It broke."})
        received |= frames(ws, lambda frame: frame["type"] == "job.failed")
    for kind in ("job.cancelled", "job.failed"):
        # How far the export came before this test asked for its end is a matter of chance.
        assert received[kind]["phase"] in Phase.values
        assert 0 <= received[kind]["progress"] < 100
        received[kind] |= {"phase": Phase.PREPARING, "progress": 0}
    compare("socket_exports", {kind: received[kind] for kind in received if kind != "job.progress"})
    assert set(received["job.progress"]) == set(received["job.completed"])


def test_frames_about_a_step_queue_have_the_frozen_form(stack: System) -> None:
    path = provisioning(stack.client("alice"), "wire", fail=True)
    with opened(stack, path.replace("/api", "/ws")) as ws:
        received = snapshot(ws)
        assert stack.client("alice").post(f"{path}/run").status == 202
        received |= frames(ws, lambda frame: frame["type"] == "queue_finished")
    compare("socket_step_queue", received)
