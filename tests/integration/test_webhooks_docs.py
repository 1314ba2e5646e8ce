"""The programs of docs/events.md, run unchanged."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from config.dev.ports import free_port
from jobs.models import ApiToken, Membership, Office
from jobs.notifications import batches, creation, delivery, signing, webhooks
from jobs.sockets.base import Close
from jobs.states import MemberRole
from tests.factories import an_office
from tests.integration.manual_engine import a_failure, submit
from tests.integration.rest_support import forget_counts, make_user
from tests.integration.web_process import running
from tests.workers import ROOT, database_url, eventually

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def office():
    return an_office(name="Ours")


@pytest.fixture
def token(office):
    """That of a viewer."""
    forget_counts()
    user = make_user()
    Membership.objects.create(office=office, user=user, role=MemberRole.VIEWER)
    return ApiToken.issue(user, "test", timezone.now())[1]


def example(name: str) -> str:
    text = (ROOT / "docs" / "events.md").read_text()
    match = re.search(rf"<!-- tested: {re.escape(name)} -->\n```python\n(.*?)```", text, re.DOTALL)
    assert match is not None
    return match[1]


@pytest.fixture
def started(tmp_path):
    """Runs an example and gives the file that it prints into."""
    processes = []

    def start(name: str, **environment: str) -> Path:
        (tmp_path / name).write_text(example(name))
        output: Path = tmp_path / f"{name}.out"
        with output.open("wb") as file:
            env = {**os.environ, **environment}
            command = [sys.executable, str(tmp_path / name)]
            processes.append(subprocess.Popen(command, env=env, stdout=file, stderr=subprocess.STDOUT))
        return output

    yield start
    for process in processes:
        process.kill()
        process.wait()


def test_the_receiver_accepts_signed_messages_only(office, started, settings):
    settings.DURE_HTTP_ALLOW = ("127.0.0.1/32",)
    port = free_port()
    webhook = webhooks.add(office, f"http://127.0.0.1:{port}/", ["job_failed"])
    output = started("receiver.py", DURE_WEBHOOK_SECRET=webhook.secret, PORT=str(port))
    eventually(lambda: _listens(port))
    a_failure(office)
    creation.create_from_events(office.pk)
    assert delivery.send_due() == 1
    eventually(lambda: "job_failed build\n" in output.read_text())
    forged = batches.send_message(webhook, [signing.new_secret()], batches.Message(1, 1, "{}"))
    assert not forged.sent
    assert forged.answer.startswith("401")


def test_the_check_without_a_library_accepts_our_signatures():
    namespace: dict[str, Any] = {}
    exec(example("verify.py"), namespace)
    verify, secret, now = namespace["verify"], signing.new_secret(), int(timezone.now().timestamp())
    headers = signing.headers([signing.new_secret(), secret], "msg_1", now, b"body")
    assert verify(secret, headers, b"body")
    assert not verify(secret, headers, b"other")
    assert not verify(signing.new_secret(), headers, b"body")
    assert not verify(secret, signing.headers([secret], "msg_1", now - 400, b"body"), b"body")


def test_a_ticket_opens_a_socket_with_earlier_events(office, token, started, tmp_path):
    submit(office, "before")
    with running(tmp_path, module="config.web", DATABASE_URL=database_url()) as web:
        url = f"http://127.0.0.1:{web.port}"
        output = started("ticket.py", DURE_URL=url, DURE_TOKEN=token, OFFICE=str(office.pk))
        eventually(lambda: "job_ready " in output.read_text())
        assert output.read_text().startswith("snapshot ")
        submit(office, "after")
        eventually(lambda: output.read_text().count("job_ready ") == 2)


def test_every_close_code_is_documented():
    text = (ROOT / "docs" / "events.md").read_text()
    codes = {
        int(code) for row in re.findall(r"^\| ([\d, ]+) \|", text, re.MULTILINE) for code in row.split(",")
    }
    restart = 1012  # sent by the server itself
    assert codes == {int(code) for code in Close if code != Close.FINISHED} | {restart}


def test_the_follower_misses_no_event_while_the_server_is_away(office, token, started, tmp_path):
    with running(tmp_path, module="config.web", DATABASE_URL=database_url()) as web:
        port = web.port
        url = f"ws://127.0.0.1:{port}/ws/offices/{office.pk}/events"
        output = started("follow.py", EVENTS_URL=url, DURE_TOKEN=token)
        eventually(lambda: Office.objects.get(pk=office.pk).watched_until)
        (first,) = submit(office, "first")
        eventually(lambda: f"job_ready {first}" in output.read_text())
    (second,) = submit(office, "second")
    with running(tmp_path, module="config.web", DATABASE_URL=database_url(), PORT=str(port)):
        eventually(lambda: f"job_ready {second}" in output.read_text())


def _listens(port: int) -> bool:
    import socket

    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
