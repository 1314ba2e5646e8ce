"""Offices, their members, settings and statistics over HTTP."""

from typing import Any

import pytest

from jobs.insight import stats
from jobs.models import Attempt, Event, Execution, Job, Membership, Office
from jobs.sql import call
from jobs.states import EventType, JobStatus, MemberRole
from tests.factories import a_job, a_user, an_office, done, fresh, running, submitted
from tests.integration.rest_support import client_of, forget_counts

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_counts():
    forget_counts()
    stats._kept.clear()


@pytest.fixture
def owner():
    return a_user("alice")


@pytest.fixture
def office(owner):
    return an_office(owner, max_concurrent_jobs=1)


@pytest.fixture
def client(owner):
    return client_of(owner)


def at(office: Office, rest: str = "") -> str:
    return f"/api/offices/{office.id}{rest}"


def send(client, method, path, body=None):
    return getattr(client, method)(path, body or {}, content_type="application/json")


def member(office: Office, name: str, role: str):
    user = a_user(name)
    Membership.objects.create(office=office, user=user, role=role)
    return client_of(user)


# --- offices ---------------------------------------------------------------------------------------


def test_the_creator_of_an_office_owns_it(client):
    answer = send(
        client, "post", "/api/offices", {"name": "Seoul studio", "notify_emails": ["a@example.com"]}
    )
    assert answer.status_code == 201, answer.json()
    office = answer.json()
    assert list(office) == ["id", "name", "created_at", "role", "notify_emails"]
    assert (office["name"], office["role"], office["notify_emails"]) == (
        "Seoul studio",
        "owner",
        ["a@example.com"],
    )
    assert answer["Location"].endswith(f"/api/offices/{office['id']}")
    assert client.get(answer["Location"]).json() == office


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": ""},
        {"name": "x" * 201},
        {"name": "a", "notify_emails": ["no"]},
        {"name": "a", "limit": 3},
    ],
)
def test_an_invalid_office_is_not_created(client, body):
    assert send(client, "post", "/api/offices", body).status_code == 400
    assert not Office.objects.exists()


def test_the_list_has_the_callers_offices_only_and_staff_see_all(client, office):
    other = an_office(a_user("bob"), name="other")
    assert [item["id"] for item in client.get("/api/offices").json()["results"]] == [str(office.id)]
    staff = client_of(a_user("sam", is_staff=True))
    result = {item["id"]: item["role"] for item in staff.get("/api/offices").json()["results"]}
    assert result == {str(office.id): "viewer", str(other.id): "viewer"}
    root = client_of(a_user("root", is_superuser=True, is_staff=True))
    assert {item["role"] for item in root.get("/api/offices").json()["results"]} == {"owner"}


def test_staff_can_read_and_superusers_can_act(office):
    job = a_job(office)
    cancel = at(office, f"/jobs/{job.id}/cancel")
    staff = client_of(a_user("sam", is_staff=True))
    assert staff.get(at(office)).json()["role"] == MemberRole.VIEWER
    assert send(staff, "post", cancel).status_code == 403
    assert send(client_of(a_user("root", is_superuser=True)), "post", cancel).status_code == 202


def test_an_operator_works_with_an_office_and_its_owner_renames_it(office, client):
    operator = member(office, "otto", MemberRole.OPERATOR)
    assert send(operator, "post", at(office, "/scheduler/process")).status_code == 200
    assert send(operator, "patch", at(office), {"name": "mine"}).status_code == 403
    assert send(client, "patch", at(office), {"name": "ours"}).json()["name"] == "ours"


def test_an_office_with_running_jobs_cannot_be_deleted(client, office):
    first, second = submitted(office, {"ref": "a"}, {"depends_on": ["a"]}, name="b")
    refused = client.delete(at(office))
    assert (refused.status_code, refused.json()["code"]) == (409, "jobs_processing")
    done(first)
    other = a_job(an_office())
    send(client, "post", at(office, f"/jobs/{second.id}/cancel"))
    assert client.delete(at(office)).status_code == 204
    assert client.get(at(office)).status_code == 404
    assert list(Job.objects.all()) == [other]
    assert not Attempt.objects.exists()
    assert Execution.objects.count() == 1
    assert not Event.objects.filter(office_id=office.id).exists()


# --- members ---------------------------------------------------------------------------------------


def test_an_owner_adds_changes_and_removes_members(client, office):
    bob = a_user("bob")
    added = send(client, "post", at(office, "/members"), {"username": "bob", "role": "viewer"})
    assert (added.status_code, added.json()) == (201, {"username": "bob", "role": "viewer"})
    theirs = client_of(bob)
    assert theirs.get(at(office)).json()["role"] == "viewer"
    changed = send(client, "post", at(office, "/members"), {"username": "bob", "role": "operator"})
    assert changed.status_code == 200
    assert [item["role"] for item in client.get(at(office, "/members")).json()["results"]] == [
        "owner",
        "operator",
    ]
    assert client.delete(at(office, "/members/bob")).status_code == 204
    assert theirs.get(at(office)).status_code == 404
    assert client.delete(at(office, "/members/bob")).status_code == 404
    unknown = send(client, "post", at(office, "/members"), {"username": "nobody", "role": "viewer"})
    assert "username" in unknown.json()["errors"]


def test_the_last_owner_cannot_be_removed(client, office):
    assert client.delete(at(office, "/members/alice")).json()["code"] == "last_owner"
    demoted = send(client, "post", at(office, "/members"), {"username": "alice", "role": "viewer"})
    assert demoted.status_code == 409
    assert client.get(at(office)).json()["role"] == "owner"


# --- scheduler -------------------------------------------------------------------------------------

DEFAULTS: dict[str, Any] = {
    "maxConcurrentJobs": 3,
    "maxConcurrentByRole": {"FE": 1, "BE": 1, "QA": 1, "DevOps": 1},
    "defaultTimeout": 1_800_000,
    "defaultTimeoutByRole": {
        "PO": 900_000,
        "Architect": 1_200_000,
        "FE": 1_800_000,
        "BE": 1_800_000,
        "QA": 2_700_000,
        "DevOps": 1_200_000,
    },
    "maxRetries": 2,
    "retryBackoff": "exponential",
    "retryBaseDelay": 60_000,
    "retryableFailures": ["timeout", "session_error", "worker_lost", "error"],
    "paused": False,
}


def test_a_new_office_has_the_contracts_settings(client):
    office = send(client, "post", "/api/offices", {"name": "new"}).json()
    assert client.get(f"/api/offices/{office['id']}/scheduler/config").json() == DEFAULTS


def test_a_change_of_settings_merges_and_applies_to_later_submissions(client, office):
    patch = {"retryBackoff": "linear", "maxRetries": 5, "defaultTimeoutByRole": {"FE": 5_000}}
    answer = send(client, "patch", at(office, "/scheduler/config"), patch)
    assert answer.status_code == 200, answer.json()
    merged = {**DEFAULTS, **patch, "maxConcurrentJobs": 1, "maxConcurrentByRole": {}}
    merged["defaultTimeoutByRole"] = {**DEFAULTS["defaultTimeoutByRole"], "FE": 5_000}
    assert answer.json() == merged
    assert client.get(at(office, "/scheduler/config")).json() == merged
    job = a_job(Office.objects.get(pk=office.pk), role="FE")
    assert (job.timeout_ms, job.max_retries, job.retry_backoff) == (5_000, 5, "linear")


def test_invalid_settings_are_named_and_change_nothing(client, office):
    before = client.get(at(office, "/scheduler/config")).json()
    answer = send(client, "patch", at(office, "/scheduler/config"), {"paused": True, "maxConcurrentJobs": 0})
    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == ["maxConcurrentJobs"]
    assert client.get(at(office, "/scheduler/config")).json() == before


def test_a_raised_limit_and_the_end_of_a_pause_start_waiting_jobs_at_once(client, office):
    jobs = submitted(office, {}, {}, {})
    assert [fresh(job).status for job in jobs] == [JobStatus.PROCESSING, JobStatus.READY, JobStatus.READY]
    send(client, "patch", at(office, "/scheduler/config"), {"maxConcurrentJobs": 2})
    assert [fresh(job).status for job in jobs] == [
        JobStatus.PROCESSING,
        JobStatus.PROCESSING,
        JobStatus.READY,
    ]
    send(client, "patch", at(office, "/scheduler/config"), {"paused": True, "maxConcurrentJobs": 3})
    assert fresh(jobs[2]).status == JobStatus.READY
    send(client, "patch", at(office, "/scheduler/config"), {"paused": False})
    assert fresh(jobs[2]).status == JobStatus.PROCESSING


def test_stats_count_every_state_and_average_the_done(client, office):
    assert client.get(at(office, "/scheduler/stats")).json() == {
        "office_id": str(office.id),
        **{str(status): 0 for status in JobStatus},
        "avg_completion_time": 0,
    }
    item, two, three, four, _ = submitted(office, {"ref": "a"}, {}, {"depends_on": ["a"]}, {}, {})
    done(item)
    call.change(
        "UPDATE job_queue SET started_at = completed_at - interval '2 seconds' WHERE id = %s", [item.id]
    )
    running(two).fail(failure_type="git_conflict")
    send(client, "post", at(office, f"/jobs/{four.id}/cancel"))
    result = client.get(at(office, "/scheduler/stats")).json()
    assert result["avg_completion_time"] == 2000
    assert {
        name: result[name] for name in ("done", "failed", "cancelled", "processing", "ready", "pending")
    } == {"done": 1, "failed": 1, "cancelled": 1, "processing": 1, "ready": 1, "pending": 0}
    running(three).finish("timeout", failure_type="timeout", delay_ms=60_000)
    assert client.get(at(office, "/scheduler/stats")).json()["timeout"] == 1


def test_stats_stay_exact_for_many_ended_jobs(client, office, monkeypatch):
    monkeypatch.setattr(stats, "COUNTED_EACH_TIME", 1)
    for job in submitted(office, {}, {}, {}):
        done(job)
    assert client.get(at(office, "/scheduler/stats")).json()["done"] == 3


# --- events ----------------------------------------------------------------------------------------


def test_events_continue_from_any_point(client, office):
    job = a_job(office)
    done(job)
    first = client.get(at(office, "/events?limit=2")).json()
    assert [event["type"] for event in first["results"]] == [EventType.JOB_READY, EventType.JOB_STARTED]
    assert list(first["results"][0]) == [
        "id",
        "type",
        "job_id",
        "batch_id",
        "office_id",
        "details",
        "timestamp",
    ]
    assert {event["job_id"] for event in first["results"]} == {str(job.id)}
    rest = client.get(at(office, f"/events?after={first['next_after']}")).json()
    assert rest["results"][0]["type"] == EventType.JOB_COMPLETED
    assert rest["results"][0]["id"] > first["next_after"]
    nothing = client.get(at(office, f"/events?after={rest['next_after']}")).json()
    assert nothing == {"results": [], "next_after": rest["next_after"]}


@pytest.mark.parametrize(
    "query", ["?after=x", "?after=-1", "?limit=0", "?limit=1001", "?since=1", f"?after={2**63}"]
)
def test_events_reject_invalid_parameters(client, office, query):
    assert client.get(at(office, "/events" + query)).status_code == 400


# --- tasks -----------------------------------------------------------------------------------------


def test_tasks_are_listed_with_their_arguments(client):
    result = {task["task_id"]: task for task in client.get("/api/tasks?page_size=200").json()["results"]}
    assert {"demo.sum", "demo.sleep", "demo.fail", "demo.flaky", "http.request", "command.run"} <= set(result)
    task = client.get("/api/tasks/demo.sum").json()
    assert task == result["demo.sum"]
    assert set(task) == {
        *("task_id", "description", "role", "args_schema", "timeout_ms", "max_retries", "retry_base_delay"),
        *("on_lost", "atomic", "available", "seen_at", "package", "version", "code_digest", "schemas_differ"),
        *("exclusive", "rate_limit", "limits_differ"),
    }
    assert task["args_schema"]["required"] == ["numbers"]
    assert (task["description"], task["on_lost"]) == ("Adds numbers.", "retry")
