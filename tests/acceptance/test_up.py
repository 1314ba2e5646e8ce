"""A system starts from an empty folder, runs a job, and stops without leaving anything behind."""

import json
import socket
import stat
import subprocess
import sys
from typing import Any
from urllib.parse import urlsplit

from config.dev.ports import free_port
from tests.acceptance.system import CHECKOUT, Client, System
from tests.unit.process_tools import eventually

SUM = {"task_id": "demo.sum", "args": {"numbers": [1, 2]}}


def submitted(stack: System) -> str:
    """Submits a job of alice; returns its path."""
    jobs = f"/api/offices/{stack.office_id}/jobs"
    return f"{jobs}/{stack.client('alice').create(jobs, SUM)['id']}"


def done(stack: System, path: str) -> dict[str, Any]:
    alice = stack.client("alice")
    assert eventually(lambda: alice.get(path).json["status"] == "done", 60), alice.get(path).body
    return dict(alice.get(path).json)


def test_a_job_submitted_over_http_is_executed_by_a_worker(stack):
    job = done(stack, submitted(stack))
    assert job["result"] == 3
    assert [execution["status"] for execution in job["executions"]] == ["completed"]


def test_other_users_do_not_see_the_job(stack):
    path = submitted(stack)
    assert stack.client("bob").get(path).status == 404
    assert stack.client().get(path).status == 401
    assert stack.client("alice").get(path).status == 200


def test_every_address_of_the_summary_answers_and_flower_requires_its_password(stack):
    for path in ("/readyz", "/admin/login/", "/api/docs"):
        assert stack.client().get(path).status == 200, path
    assert stack.client().get("/").status == 200
    assert stack.flower(signed_in=True).get("/workers").status == 200
    assert stack.flower(signed_in=False).get("/workers").status == 401


def known_secrets(stack: System) -> set[str]:
    credentials = stack.credentials
    secrets = {credentials["cron_secret"], credentials["flower"]["password"]}
    secrets |= {urlsplit(credentials["redis_url"]).password or ""}
    secrets |= {user[key] for user in credentials["users"] for key in ("password", "token")}
    secrets |= {str(value) for value in json.loads((stack.home / "secrets.json").read_text()).values()}
    secrets |= {path.read_text().strip() for path in (stack.home / "postgres").glob("*password")}
    return secrets - {""}


def use_secrets(stack: System, office: str) -> set[str]:
    """Uses each kind of secret in a way that succeeds or fails; returns those that are not known yet."""
    alice, nobody = stack.client("alice"), stack.client()
    closed = f"http://127.0.0.1:{free_port()}/path?token=query-secret-of-a-url"
    hook = alice.post(f"/api/offices/{office}/webhooks", {"url": closed, "event_types": ["job_failed"]}).json
    headers = {"Authorization": "Bearer header-secret-of-a-job", "X-Api-Key": "key-secret-of-a-job"}
    request = {"method": "GET", "url": closed, "headers": headers}
    job = {"task_id": "http.request", "args": request, "max_retries": 0}
    number = alice.post(f"/api/offices/{office}/jobs", job).json["id"]
    ticket = alice.post("/api/ws-ticket").json["ticket"]
    wrong_token = "dure_" + "wrong-token-that-nobody-has" * 2
    assert nobody.get(f"/ws/offices/{office}/events?ticket={ticket}").status < 500
    assert Client(stack.base_url, f"Token {wrong_token}").get("/api/offices").status == 401
    cron = Client(stack.base_url, f"Bearer {stack.credentials['cron_secret']}")
    assert cron.get("/api/offices").status == 401
    assert cron.post("/api/scheduler/cron").status == 200
    path = f"/api/offices/{office}/jobs/{number}"
    assert eventually(lambda: alice.get(path).json["status"] == "failed", 60), alice.get(path).body
    deliveries = f"/api/offices/{office}/webhooks/{hook['id']}/deliveries"
    assert eventually(lambda: any(row["attempts"] for row in alice.get(deliveries).json["results"]), 60)
    return {hook["secret"], ticket, wrong_token, "header-secret-of-a-job", "key-secret-of-a-job"} | {
        "query-secret-of-a-url"
    }


def test_no_secret_is_in_a_log_or_on_a_command_line(stack, office):
    done(stack, submitted(stack))
    secrets = known_secrets(stack) | use_secrets(stack, office)
    assert len(secrets) > 14
    texts = {log.name: log.read_text(errors="replace") for log in (stack.home / "logs").iterdir()}
    texts |= {str(pid): command for pid, (_, command) in stack.processes().items()}
    assert [(name, secret) for name, text in texts.items() for secret in secrets if secret in text] == []


def test_the_credentials_are_for_their_owner_only(stack):
    for name in ("credentials.json", "secrets.json"):
        assert stat.S_IMODE((stack.home / name).stat().st_mode) == 0o600


def test_a_second_start_in_the_same_home_is_refused_and_does_not_disturb_the_first(stack):
    second = subprocess.run(
        [sys.executable, "-m", "config.dev.up"],
        cwd=CHECKOUT,
        env=stack.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert second.returncode == 1
    assert f"A system is already running in {stack.home}" in second.stderr
    assert second.stderr.count("\n") == 1
    assert stack.client().get("/readyz").status == 200


def test_a_stop_ends_every_process_and_a_new_start_keeps_the_data(stack):
    path = submitted(stack)
    done(stack, path)
    before = stack.credentials
    assert len(stack.processes()) > 8

    assert stack.stop() == 0
    assert stack.processes() == {}
    assert listening(stack, before) == []
    assert list((stack.home / "run").glob(".s.PGSQL.*")) == []
    assert not (stack.home / "embedded.json").exists()

    stack.start()
    assert stack.credentials == before
    assert stack.client("alice").get(path).json["status"] == "done"


def listening(stack: System, credentials: dict[str, Any]) -> list[int]:
    """The ports of the system that still answer; of Redis only if the system started it."""
    ports = [stack.port, stack.flower_port]
    if "REDIS_URL" not in stack.environment():
        ports.append(urlsplit(credentials["redis_url"]).port)
    return [port for port in ports if socket.socket().connect_ex(("127.0.0.1", port)) == 0]
