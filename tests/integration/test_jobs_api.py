"""Jobs over HTTP: submitting, listing, showing and changing them."""

import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.models import Execution, Job, Office
from jobs.states import JobStatus, Outcome
from tests.factories import a_job, a_user, an_office, done, fresh, running, submitted
from tests.integration.rest_support import client_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fresh_counts")]

JOB_FIELDS = [
    *("id", "ref", "office_id", "batch", "task_id", "args", "role", "priority", "urgent", "status"),
    *(
        "depends_on",
        "on_dependency_failure",
        "timeout_ms",
        "queue_timeout_ms",
        "max_retries",
        "retry_count",
        "retry_at",
        "run_at",
    ),
    *("created_at", "queued_at", "started_at", "completed_at", "cancelled_at", "failure_type"),
    *("error_message", "result", "progress", "session_id", "unique_key"),
]
ONE = {"task_id": "demo.sum", "args": {"numbers": [1, 2]}}


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
    return f"/api/offices/{office.id}/jobs{rest}"


def posted(client, path, body=None, **headers):
    return client.post(path, body or {}, content_type="application/json", headers=headers)


# --- submit ----------------------------------------------------------------------------------------


def test_a_submitted_job_has_exactly_the_fields_of_the_contract(client, office):
    answer = posted(client, at(office), {**ONE, "ref": "one", "priority": 5, "unique_key": "k", "role": "FE"})
    assert answer.status_code == 201, answer.json()
    job = answer.json()
    assert list(job) == JOB_FIELDS
    assert job["office_id"] == str(office.id)
    assert (job["ref"], job["priority"], job["unique_key"], job["role"]) == ("one", 5, "k", "FE")
    assert job["args"] == {"numbers": [1, 2]}
    assert job["batch"] is None
    assert job["depends_on"] == []
    assert job["status"] == JobStatus.PROCESSING
    assert job["timeout_ms"] == 30 * 60_000
    assert job["max_retries"] == 2
    assert job["created_at"].endswith("+09:00")
    assert answer["Location"].endswith(f"/api/offices/{office.id}/jobs/{job['id']}")
    assert client.get(answer["Location"]).json()["id"] == job["id"]


def test_a_submitted_batch_is_returned_in_order(client, office):
    body = {
        "batch": {"name": "release"},
        "jobs": [
            {**ONE, "ref": "last", "depends_on": ["second", "first"]},
            {**ONE, "ref": "first"},
            {**ONE, "ref": "second", "depends_on": ["first"]},
        ],
    }
    answer = posted(client, at(office), body)
    assert answer.status_code == 201, answer.json()
    document = answer.json()
    assert [job["ref"] for job in document["jobs"]] == ["last", "first", "second"]
    last, first, second = document["jobs"]
    assert last["depends_on"] == [second["id"], first["id"]]
    assert document["batch"]["name"] == "release"
    assert {job["batch"] for job in document["jobs"]} == {document["batch"]["id"]}
    assert [last["status"], first["status"]] == [JobStatus.PENDING, JobStatus.PROCESSING]
    assert client.get(answer["Location"]).json()["id"] == document["batch"]["id"]


def test_the_answer_to_a_submission_equals_a_later_read(client, office):
    failed = a_job(office)
    running(failed).fail(failure_type="git_conflict")
    soon = (timezone.now() + timedelta(hours=1)).isoformat()
    body = {
        "jobs": [
            {**ONE, "ref": "sent"},
            {**ONE, "ref": "ready", "unique_key": "k", "urgent": True, "priority": 3, "role": "QA"},
            {**ONE, "ref": "waits", "depends_on": ["sent", "ready"], "on_dependency_failure": "run"},
            {**ONE, "run_at": soon, "max_retries": 7, "retry_backoff": "linear", "timeout_ms": 5},
            {**ONE, "depends_on": [str(failed.id)], "on_dependency_failure": "fail"},
        ]
    }
    jobs = posted(client, at(office), body).json()["jobs"]
    assert [job["status"] for job in jobs] == ["ready", "processing", "pending", "pending", "failed"]
    for job in jobs:
        in_full = client.get(at(office, f"/{job['id']}")).json()
        assert job == {name: in_full[name] for name in JOB_FIELDS}


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"task_id": "no.such"}, "task_id"),
        ({}, "task_id"),
        ({**ONE, "colour": "red"}, "colour"),
        ({**ONE, "depends_on": ["nowhere"]}, "depends_on"),
        ({**ONE, "depends_on": [str(uuid.uuid4())]}, "depends_on"),
        ({**ONE, "ref": "me", "depends_on": ["me"]}, "depends_on"),
        ({**ONE, "role": "control"}, "role"),
        ({**ONE, "queue_timeout_ms": 0}, "queue_timeout_ms"),
        ({**ONE, "role": "a b"}, "role"),
        ({**ONE, "timeout_ms": 0}, "timeout_ms"),
        ({**ONE, "args": {"numbers": "many"}}, "args"),
        ({**ONE, "run_at": "2026-12-01T09:00:00"}, "run_at"),
        ({"jobs": []}, "jobs"),
        ({"jobs": [{**ONE, "ref": "a"}, {**ONE, "ref": "a"}]}, "jobs.1.ref"),
        ({"jobs": [ONE], "batch": {"id": "no"}}, "batch.id"),
    ],
)
def test_an_invalid_submission_has_errors_by_field_and_writes_nothing(client, office, body, where):
    answer = posted(client, at(office), body)
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert where in answer.json()["errors"]
    assert not Job.objects.exists()


def test_a_cycle_is_rejected_with_its_members(client, office):
    jobs = [
        {**ONE, "ref": "a", "depends_on": ["c"]},
        {**ONE, "ref": "b", "depends_on": ["a"]},
        {**ONE, "ref": "c", "depends_on": ["b"]},
        {**ONE, "ref": "beside"},
    ]
    problem = posted(client, at(office), {"jobs": jobs})
    assert problem.status_code == 400
    assert problem.json()["code"] == "cycle"
    assert sorted(problem.json()["cycle"]) == ["a", "b", "c"]
    assert not Job.objects.exists()
    assert client.get("/api/problems/cycle").status_code == 200


def test_more_jobs_than_the_limit_are_refused_with_413(client, office, settings):
    settings.DURE_MAX_JOBS_PER_SUBMISSION = 2
    answer = posted(client, at(office), {"jobs": [ONE, ONE, ONE]})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_a_submission_repeated_with_its_key_submits_once(client, office):
    first = posted(client, at(office), ONE, **{"Idempotency-Key": "abc"})
    again = posted(client, at(office), ONE, **{"Idempotency-Key": "abc"})
    assert first.json() == again.json()
    assert again["Idempotency-Replayed"] == "true"
    assert Job.objects.count() == 1
    other = posted(client, at(office), {**ONE, "priority": 1}, **{"Idempotency-Key": "abc"})
    assert other.status_code == 422


# --- list ------------------------------------------------------------------------------------------


def test_the_list_is_newest_first_and_its_filters_add_up(client, office):
    a, b, _ = submitted(
        office, {"role": "FE", "ref": "a"}, {"role": "BE", "ref": "b"}, {"role": "FE", "ref": "c"}
    )
    done(a)

    def refs(query=""):
        answer = client.get(at(office, query))
        assert answer.status_code == 200, answer.json()
        return [job["ref"] for job in answer.json()["results"]]

    assert refs() == ["c", "b", "a"]
    assert refs("?ordering=created_at") == ["a", "b", "c"]
    assert refs("?status=done") == ["a"]
    assert refs("?status=done&status=processing") == ["b", "a"]
    assert refs("?status=done,processing") == ["b", "a"]
    assert refs("?role=FE") == ["c", "a"]
    assert refs("?role=FE&status=ready") == ["c"]
    assert refs(f"?batch={b.batch_id}") == ["c", "b", "a"]
    assert refs(f"?batch={uuid.uuid4()}") == []
    assert refs("?task_id=demo.sleep") == []
    assert refs("?ordering=-completed_at")[0] == "a"
    assert client.get(at(office, "?page_size=2")).json()["next"] is not None


def test_the_order_of_priority_is_the_order_of_the_queue(client, office):
    submitted(office, {"ref": "a"}, {"ref": "b", "priority": 1}, {"ref": "c", "urgent": True}, {"ref": "d"})
    answer = client.get(at(office, "?ordering=priority")).json()
    assert [job["ref"] for job in answer["results"]] == ["c", "b", "a", "d"]


@pytest.mark.parametrize("query", ["?state=done", "?status=finished", "?batch=1", "?ordering=random"])
def test_an_unknown_filter_or_value_is_rejected(client, office, query):
    assert client.get(at(office, query)).status_code == 400


def test_a_list_of_any_length_needs_the_same_number_of_queries(client, office):
    def statements():
        with CaptureQueriesContext(connection) as requested:
            assert client.get(at(office)).status_code == 200
        return len(requested)

    client.get(at(office))  # the token's last use is written once a minute
    submitted(office, {"ref": "a"}, {"depends_on": ["a"]})
    few = statements()
    submitted(office, *({"ref": f"r{n}"} for n in range(20)), {"depends_on": ["r1", "r2"]})
    assert statements() == few


# --- one job ---------------------------------------------------------------------------------------


def test_a_running_job_shows_its_progress(client, office):
    job = a_job(office)
    run = running(job, worker="w@host")
    Execution.objects.filter(pk=run.execution).update(
        session_id="s-1", progress={"fraction": 0.5, "message": "half"}
    )
    answer = client.get(at(office, f"/{job.id}")).json()
    assert list(answer) == [*JOB_FIELDS, "executions"]
    assert answer["status"] == JobStatus.PROCESSING
    assert answer["started_at"] is not None
    assert answer["session_id"] == "s-1"
    assert answer["progress"] == {"fraction": 0.5, "message": "half"}
    (execution,) = answer["executions"]
    assert execution["status"] == "running"
    assert execution["timeout_at"] is not None
    assert execution["worker"] == "w@host"
    (attempt,) = execution["attempts"]
    assert (attempt["number"], attempt["ended_at"], attempt["outcome"]) == (1, None, None)
    assert (attempt["session_id"], attempt["timeout_at"]) == ("s-1", execution["timeout_at"])


def test_an_ended_job_shows_its_result_and_its_attempts(client, office):
    job = a_job(office)
    running(job).fail(error="no luck", traceback="File x", delay_ms=0)
    answer = client.get(at(office, f"/{job.id}")).json()
    assert answer["status"] == JobStatus.PENDING
    assert answer["retry_count"] == 1
    assert answer["retry_at"] is not None
    assert answer["executions"][0]["status"] == "failed"
    assert posted(client, f"/api/offices/{office.id}/scheduler/process").json() == {
        "promoted": 1,
        "dispatched": 1,
    }
    running(job, token="t2").finish(result="3")
    answer = client.get(at(office, f"/{job.id}")).json()
    assert answer["status"] == JobStatus.DONE
    assert answer["result"] == 3
    assert answer["error_message"] is None
    (execution,) = answer["executions"]
    assert (execution["status"], execution["attempt"]) == ("completed", 2)
    assert [item["outcome"] for item in execution["attempts"]] == [Outcome.FAILURE, Outcome.SUCCESS]
    assert execution["attempts"][0]["error_message"] == "no luck"
    assert execution["attempts"][1]["timeout_at"] == execution["timeout_at"]
    assert [item["traceback"] for item in execution["attempts"]] == ["File x", None]


def test_a_timed_out_execution_has_the_status_timeout(client, office):
    job = a_job(office, max_retries=1)
    running(job).finish(Outcome.TIMEOUT, failure_type="timeout", error="late", delay_ms=60_000)
    answer = client.get(at(office, f"/{job.id}")).json()
    assert (answer["status"], answer["executions"][0]["status"]) == ("timeout", "timeout")
    assert posted(client, at(office, f"/{job.id}/retry")).status_code == 202
    again = fresh(job)
    assert again.retry_count == 0
    running(job, token="t3").finish(Outcome.TIMEOUT, failure_type="timeout", error="late")
    answer = client.get(at(office, f"/{job.id}")).json()
    assert (answer["status"], answer["failure_type"]) == ("failed", "timeout")
    assert [run["status"] for run in answer["executions"]] == ["cancelled", "timeout"]


# --- steer -----------------------------------------------------------------------------------------


def test_retry_runs_a_failed_job_again_with_a_new_execution(client, office):
    job = a_job(office)
    running(job).fail(failure_type="git_conflict")
    assert fresh(job).status == JobStatus.FAILED
    answer = posted(client, at(office, f"/{job.id}/retry"), {"reason": "merged"})
    assert answer.status_code == 202
    assert answer["Location"].endswith(f"/jobs/{job.id}")
    assert (answer.json()["status"], answer.json()["retry_count"]) == (JobStatus.PROCESSING, 0)
    assert len(client.get(at(office, f"/{job.id}")).json()["executions"]) == 2


def test_a_job_may_name_any_role(client, office):
    answer = posted(client, at(office), {**ONE, "role": "Designer"})
    assert (answer.status_code, answer.json()["role"]) == (201, "Designer")
    assert [job["role"] for job in client.get(at(office, "?role=Designer")).json()["results"]] == ["Designer"]
    assert client.get(at(office, "?role=CEO")).json()["results"] == []
    cancelled = posted(client, at(office, "/cancel-all"), {"role": "Designer"})
    assert (cancelled.status_code, cancelled.json()["cancelled"]) == (202, 1)


def test_a_refused_retry_names_what_to_retry_first(client, office):
    parent, child = submitted(
        office, {"ref": "build"}, {"depends_on": ["build"], "on_dependency_failure": "fail"}
    )
    running(parent).fail()
    answer = posted(client, at(office, f"/{child.id}/retry"))
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["count"]) == (409, "retry_dependencies_first", 1)
    assert problem["jobs"] == [{"id": str(parent.id), "ref": "build", "status": "failed"}]
    assert "retry build first" in problem["detail"]
    assert fresh(child).status == JobStatus.FAILED


def test_retry_of_a_job_that_did_not_fail_is_a_conflict(client, office):
    job = a_job(office)
    assert posted(client, at(office, f"/{job.id}/retry")).status_code == 409
    done(job)
    assert posted(client, at(office, f"/{job.id}/retry")).status_code == 409


def test_cancel_ends_a_waiting_job_at_once_and_an_ended_one_is_a_conflict(client, office):
    _, waiting = submitted(office, {}, {})
    answer = posted(client, at(office, f"/{waiting.id}/cancel"), {"reason": "not needed"})
    assert answer.status_code == 202
    assert answer["Location"].endswith(f"/jobs/{waiting.id}")
    assert answer.json()["status"] == JobStatus.CANCELLED
    again = posted(client, at(office, f"/{waiting.id}/cancel"))
    assert (again.status_code, again.json()["code"]) == (409, "ended")
    events = client.get(f"/api/offices/{office.id}/events").json()["results"]
    received = next(event for event in events if event["type"] == "job_cancelled")
    assert received["details"] == {"actor": "alice", "reason": "not needed"}


def test_cancel_all_cancels_and_counts_matching_jobs(client, office):
    first, *_ = submitted(office, {}, {"role": "FE"}, {"role": "BE"}, {"role": "BE"}, name="one")
    running(first)
    other = a_job(office, role="BE")

    def cancel_all(**body):
        answer = posted(client, at(office, "/cancel-all"), body)
        assert answer.status_code == 202, answer.json()
        assert "Location" in answer.headers
        return answer.json()

    batch = str(first.batch_id)
    assert cancel_all(role="FE") == {"cancelled": 1, "cancelling": 0}
    assert cancel_all(status="pending") == {"cancelled": 0, "cancelling": 0}
    assert cancel_all(batch=batch, include_processing=False) == {"cancelled": 2, "cancelling": 0}
    assert fresh(other).status == JobStatus.READY
    assert cancel_all(reason="all") == {"cancelled": 1, "cancelling": 1}


@pytest.mark.parametrize(
    "body",
    [
        {"status": "done"},
        {"batch": str(uuid.uuid4())},
        {"role": "no body"},
        {"what": 1},
        {"include_processing": "maybe"},
    ],
)
def test_cancel_all_rejects_unknown_values(client, office, body):
    job = a_job(office)
    assert posted(client, at(office, "/cancel-all"), body).status_code == 400
    assert fresh(job).status == JobStatus.PROCESSING


def test_priority_changes_the_order_of_ready_jobs(client, office):
    _, a, b = submitted(office, {}, {"ref": "a"}, {"ref": "b"})

    def patch(job, **body):
        return client.patch(at(office, f"/{job.id}/priority"), body, content_type="application/json")

    assert patch(b, delta=-10).json()["priority"] == 90
    assert patch(a, urgent=True).json()["urgent"] is True
    assert patch(a, priority=7, urgent=False).json()["priority"] == 7
    for body in ({}, {"priority": 1, "delta": 1}, {"priority": "x"}, {"priority": 2**31}, {"rank": 1}):
        assert patch(a, **body).status_code == 400
    order = client.get(at(office, "?ordering=priority&status=ready")).json()["results"]
    assert [job["ref"] for job in order] == ["a", "b"]


def test_priority_of_an_ended_job_is_a_conflict(client, office):
    job = done(a_job(office))
    answer = client.patch(at(office, f"/{job.id}/priority"), {"priority": 1}, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (409, "ended")
