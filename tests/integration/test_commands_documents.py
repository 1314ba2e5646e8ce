"""The documents that commands print with --json have the frozen form."""

from typing import Any

import pytest
from django.test import Client

from jobs.models import Execution
from tests.factories import a_user, serve_roles
from tests.golden import compare, normalize
from tests.integration.commands import run
from tests.integration.rest_support import client_of
from tests.schedule_factories import claim

pytestmark = pytest.mark.django_db

SUM = {"task_id": "demo.sum", "args": {"numbers": [1]}}
RULE = {"name": "wire", "kind": "cron", "cron": "0 9 * * *", **SUM}


@pytest.fixture
def alice() -> Client:
    return client_of(a_user("alice"))


def made(alice: Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = alice.post(path, body, content_type="application/json")
    assert answer.status_code < 300, answer.content
    return dict(answer.json())


def document(*words: str) -> Any:
    return normalize(run(*words, "--json").json)


def test_documents_of_the_commands_have_the_frozen_form(alice):
    serve_roles()
    office = made(alice, "/api/offices", {"name": "Wire"})["id"]
    config = f"/api/offices/{office}/scheduler/config"
    assert alice.patch(config, {"paused": True}, content_type="application/json").status_code == 200
    job = made(alice, f"/api/offices/{office}/jobs", SUM)["id"]
    schedule = made(alice, "/api/schedules", RULE)["id"]
    execution = made(alice, "/api/tasks/demo.sum/run", {"args": {"numbers": [1, 2]}})["execution_id"]
    claim(Execution.objects.get(pk=execution)).finish(result="3")
    documents = {
        "jobs list": document("jobs", "list", "--office", office),
        "jobs show": document("jobs", "show", job),
        "jobs reprioritise": document("jobs", "reprioritise", job, "--priority", "5", "--yes"),
        "jobs cancel, dry run": document("jobs", "cancel", job, "--dry-run"),
        "jobs cancel": document("jobs", "cancel", job, "--yes"),
        "jobs retry": document("jobs", "retry", job, "--yes"),
        "executions list": document("executions", "list") | {"more": "<boolean>"},
        "executions show": document("executions", "show", execution),
        "schedules show": document("schedules", "show", schedule),
        "schedules pause": document("schedules", "pause", schedule, "--yes"),
        "schedules resume": document("schedules", "resume", schedule, "--yes"),
        "schedules delete": document("schedules", "delete", schedule, "--yes"),
    }
    compare("commands", documents)


def test_the_document_of_the_doctor_has_the_frozen_form():
    report = run("doctor", "--json").json
    compare("doctor", {"keys": sorted(report), "finding": sorted(report["findings"][0])})
