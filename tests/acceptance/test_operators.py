"""Operators' commands against the running system: workers and the doctor."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.acceptance.shell import command_blocks
from tests.acceptance.system import CHECKOUT, Client, System
from tests.unit.process_tools import eventually

# As docs/operations.md starts it.
NAME = "extra@studio-2"
ROLE = "Architect"
PATIENCE = 60.0


def shell(stack: System) -> dict[str, str]:
    """The environment of a clean shell on another machine: only the addresses of the servers."""
    published = stack.home / "embedded.json"
    allowed = json.loads(published.read_text()) if published.exists() else {}
    servers = {
        "DATABASE_URL": allowed.get("database") or os.environ["DATABASE_URL"],
        "REDIS_URL": allowed.get("redis") or os.environ["REDIS_URL"],
    }
    path = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])
    return {"PATH": path, "HOME": str(stack.home), **servers}


def typed(stack: System, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=CHECKOUT,
        env=shell(stack),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


def celery(stack: System, *words: str) -> Any:
    """The answer of the extra worker."""
    done = typed(stack, "celery", "-A", "config", *words, "-d", NAME, "-t", "30", "--json")
    assert done.returncode == 0, done.stderr
    replies = json.loads(done.stdout)
    return replies[NAME] if isinstance(replies, dict) else replies[0][NAME]


def documented_command(word: str) -> str:
    """The block of docs/operations.md with this word."""
    (block,) = [block for block in command_blocks("docs/operations.md") if word in block]
    return block


@contextmanager
def extra_worker(stack: System, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            shlex.split(documented_command(NAME)),
            cwd=CHECKOUT,
            env=shell(stack),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


def monitor_of(stack: System) -> dict[str, Any]:
    workers = stack.client("admin").get("/api/scheduler/monitor").json["workers"]
    return next((dict(worker) for worker in workers if worker["name"] == NAME), {})


def doctor(stack: System) -> dict[str, Any]:
    return dict(json.loads(typed(stack, "python", "manage.py", "doctor", "--json").stdout))


def matches(report: dict[str, Any], name: str) -> list[tuple[str, str]]:
    return [(finding["level"], finding["found"]) for finding in report["findings"] if finding["name"] == name]


def test_a_worker_is_added_drained_and_resumed(stack, tmp_path):
    log = tmp_path / "extra.log"
    with extra_worker(stack, log):
        assert eventually(lambda: monitor_of(stack).get("roles"), PATIENCE), log.read_text()
        assert monitor_of(stack)["roles"] == [ROLE, "QA"]
        answer = celery(stack, "inspect", "dure_runs")
        assert (answer["roles"], answer["draining"]) == ([ROLE, "QA"], False)

        assert "ok" in celery(stack, "control", "dure_drain")
        assert eventually(lambda: monitor_of(stack)["draining"], PATIENCE)
        assert matches(doctor(stack), "draining") == [("warn", f"{NAME}: accepts no new work")]

        assert celery(stack, "control", "dure_resume") == {"ok": "takes work again"}
        assert eventually(lambda: not monitor_of(stack)["draining"], PATIENCE)
    # The worker deregistered when it stopped.
    assert eventually(lambda: not monitor_of(stack), PATIENCE)


def test_the_doctor_finds_no_error_in_a_running_system(stack):
    report = doctor(stack)

    def is_well() -> bool:
        nonlocal report
        if report["status"] == "bad":
            report = doctor(stack)
        return bool(report["status"] != "bad")

    # A new system needs a moment for its first queue probes and its first sweep.
    assert eventually(is_well, 2 * PATIENCE), report
    assert matches(report, "beat")[0][0] == "ok"
    assert matches(report, "listener")[0][0] == "ok"


def flower_task(flower: Client, run: str) -> dict[str, Any]:
    """The newest message of a run, as Flower shows it."""
    tasks = flower.get(f"/api/tasks?search={run}").json
    return next(iter(tasks.values()), {})


def test_flower_shows_the_queues_and_its_button_cancels_a_run(stack):
    client, flower = stack.client("alice"), stack.flower(signed_in=True)

    def queues() -> set[str]:
        # Flower asks once for the workers when it starts, and again only when it is told to.
        flower.get("/api/workers?refresh=1")
        return {queue["name"] for queue in flower.get("/api/queues/length").json["active_queues"]}

    assert eventually(lambda: {"QA", "default"} <= queues(), PATIENCE)
    assert flower.get("/broker").status == 200

    office = client.post("/api/offices", {"name": "flower"}).json["id"]
    expected = {"task_id": "demo.sleep", "args": {"seconds": 300}}
    job = client.post(f"/api/offices/{office}/jobs", expected).json["id"]
    address = f"/api/offices/{office}/jobs/{job}"

    def run_of_job() -> str:
        return str(client.get(address).json["executions"][-1]["id"])

    assert eventually(lambda: flower_task(flower, run_of_job()).get("state") == "STARTED", PATIENCE)
    message = flower_task(flower, run_of_job())["uuid"]
    assert flower.post(f"/api/task/revoke/{message}?terminate=true").status == 200
    assert eventually(lambda: client.get(address).json["status"] == "cancelled", PATIENCE)
    assert eventually(lambda: flower_task(flower, run_of_job()).get("state") == "REVOKED", PATIENCE)
    assert client.send("DELETE", f"/api/offices/{office}").status == 204
