"""Requests outside the schema are refused, and valid ones never fail with 5xx."""

from datetime import datetime
from typing import Any

import pytest
from django.utils.timezone import get_current_timezone

from jobs.errors import PROBLEM_CODES, ProblemCode, register_problem_codes
from jobs.models import Office
from tests.factories import a_job, an_office
from tests.integration.rest_support import PROBLEM, client_of, forget_counts, make_user

pytestmark = [pytest.mark.django_db]

JSON = "application/json"
ONE = {"task_id": "demo.sum", "args": {"numbers": [1]}}
DAILY = {"name": "x", **ONE, "kind": "cron", "cron": "0 9 * * *"}
EVERYTHING = ("0001-01-01T00:00:00+09:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-09:00")
FAR_OFFSET = "2026-12-01T00:00:00+23:59"


@pytest.fixture
def client():
    forget_counts()
    return client_of(make_user("root", is_superuser=True))


@pytest.fixture
def office() -> Office:
    return an_office()


def refused(answer: Any, *fields: str) -> None:
    assert (answer.status_code, answer["Content-Type"]) == (400, PROBLEM), answer.content
    assert list(answer.json()["errors"]) == list(fields)


# --- methods ---------------------------------------------------------------------------------------


def test_an_options_request_lists_the_methods_of_a_url_only(client, office):
    job = a_job(office)
    for path, methods in {
        "/api/offices": ["GET", "HEAD", "POST"],
        f"/api/offices/{office.id}/jobs": ["GET", "HEAD", "POST"],
        f"/api/offices/{office.id}/jobs/{job.id}/cancel": ["POST"],
        "/api/schedules/0199c0de-0000-7000-8000-000000000001": ["GET", "HEAD", "PUT", "PATCH", "DELETE"],
        "/api/jobs/1/result": ["GET", "HEAD"],
        "/api/workflow/execute": ["POST"],
    }.items():
        answer = client.options(path)
        assert answer.status_code == 200, path
        assert sorted(answer.json()["methods"]) == sorted([*methods, "OPTIONS"])
        assert answer["Allow"] == ", ".join(answer.json()["methods"])


# --- the types of JSON -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/api/schedules", {**DAILY, "enabled": "true"}, "enabled"),
        ("/api/schedules", {**DAILY, "max_retries": "3"}, "max_retries"),
        ("/api/schedules", {**DAILY, "name": 5}, "name"),
        ("/api/schedules", {**DAILY, "kind": ["cron"]}, "kind"),
        ("/api/schedules", {**DAILY, "starts_at": 1796083200}, "starts_at"),
        ("/api/workflow/execute", {"workflow_id": 5}, "workflow_id"),
        (
            "/api/workflow/execute",
            {"workflow_id": "0199c0de-0000-7000-8000-000000000001", "wait": "nan"},
            "wait",
        ),
        ("/api/offices", {"name": "x", "notify_emails": {"a@b.example": 1}}, "notify_emails"),
    ],
)
def test_a_value_of_another_json_type_is_rejected(client, path, body, field):
    refused(client.post(path, body, content_type=JSON), field)


def test_an_expired_time_that_is_not_a_number_is_rejected(client):
    queue = client.post("/api/queues", {}, content_type=JSON).json()["queue_id"]
    for wrong in ("nan", "30", True, None):
        body = {"expired_time": wrong}
        refused(client.post(f"/api/queues/{queue}/jobs", body, content_type=JSON), "expired_time")


def test_a_state_filter_is_one_state_or_a_list(client, office):
    path = f"/api/offices/{office.id}/jobs/cancel-all"
    refused(client.post(path, {"status": {"pending": 1}}, content_type=JSON), "status")
    for right in ("pending", ["pending", "ready"]):
        assert client.post(path, {"status": right}, content_type=JSON).status_code == 202


def test_a_whole_number_may_be_written_with_a_point(client, office):
    submitted = client.post(f"/api/offices/{office.id}/jobs", {**ONE, "priority": 5.0}, content_type=JSON)
    assert submitted.json()["priority"] == 5
    half = client.post(f"/api/offices/{office.id}/jobs", {**ONE, "priority": 5.5}, content_type=JSON)
    refused(half, "priority")
    config = f"/api/offices/{office.id}/scheduler/config"
    patch = {"maxRetries": 4.0, "maxConcurrentByRole": {"FE": 2.0}}
    changed = client.patch(config, patch, content_type=JSON).json()
    assert (changed["maxRetries"], changed["maxConcurrentByRole"]["FE"]) == (4, 2)
    refused(client.patch(config, {"maxRetries": 4.5}, content_type=JSON), "maxRetries")


# --- times -----------------------------------------------------------------------------------------


def test_a_time_out_of_range_is_rejected(client, office):
    """A single such row would make every list that contains it fail with 500."""
    for moment in EVERYTHING:
        body = {**ONE, "run_at": moment}
        refused(client.post(f"/api/offices/{office.id}/jobs", body, content_type=JSON), "run_at")
        body = {**DAILY, "starts_at": moment}
        refused(client.post("/api/schedules", body, content_type=JSON), "starts_at")
    assert client.get(f"/api/offices/{office.id}/jobs").json()["count"] == 0


def test_a_time_may_have_any_offset(client, office):
    at = datetime.fromisoformat(FAR_OFFSET).astimezone(get_current_timezone()).isoformat()
    body = {**ONE, "run_at": FAR_OFFSET}
    assert client.post(f"/api/offices/{office.id}/jobs", body, content_type=JSON).json()["run_at"] == at
    assert client.get("/api/executions", {"from": FAR_OFFSET}).status_code == 200
    assert client.get("/api/executions", {"to": "0058-07-16T18:48:54-21:10"}).status_code == 200
    refused(client.get("/api/executions", {"from": EVERYTHING[0]}), "from")


# --- filters ---------------------------------------------------------------------------------------


def test_an_empty_filter_is_rejected(client, office):
    """An empty value is often an unset variable of a script, and must not select everything."""
    for path, name in {
        f"/api/offices/{office.id}/jobs": "batch",
        "/api/schedules": "task_id",
        "/api/executions": "status",
        "/api/workflows": "office",
        "/api/queues": "name",
    }.items():
        refused(client.get(path, {name: ""}), name)


def test_a_flag_is_true_or_false(client):
    for path in ("/api/schedules", "/api/schedules?enabled=true", "/api/schedules?enabled=false"):
        assert client.get(path).status_code == 200
    for wrong in ("1", "null", "yes", "True"):
        refused(client.get("/api/schedules", {"enabled": wrong}), "enabled")


def test_a_flag_filters(client):
    client.post("/api/schedules", DAILY, content_type=JSON)
    client.post("/api/schedules", {**DAILY, "name": "paused", "enabled": False}, content_type=JSON)

    def names(flag: str) -> list[str]:
        result = client.get("/api/schedules", {"enabled": flag}).json()["results"]
        return [item["name"] for item in result]

    assert (names("true"), names("false")) == (["x"], ["paused"])


# --- codes -----------------------------------------------------------------------------------------


def test_a_problem_code_cannot_be_registered_twice():
    register_problem_codes({"ended": PROBLEM_CODES["ended"]})
    with pytest.raises(ValueError, match="mean something else already"):
        register_problem_codes({"ended": ProblemCode(409, "Ended", "The show has ended.")})
