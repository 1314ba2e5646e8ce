"""The explanation of a waiting job lists all of its reasons."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from jobs.models import Office
from jobs.sql import call
from tests.factories import a_job, a_user, an_office, done, running, serve_roles, submitted, unserve_roles
from tests.integration.rest_support import client_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fresh_counts")]


@pytest.fixture
def office():
    return an_office(a_user("alice"), max_concurrent_jobs=1)


@pytest.fixture
def client(office):
    return client_of(a_user("alice"))


def explained(client, job):
    answer = client.get(f"/api/offices/{job.office_id}/jobs/{job.id}/explain")
    assert answer.status_code == 200, answer.content
    result = answer.json()
    assert list(result) == ["state", "reasons", "queue_position", "estimated_start"]
    assert all(reason["message"] for reason in result["reasons"])
    return result


def codes(client, job):
    return [reason["code"] for reason in explained(client, job)["reasons"]]


def test_explain_reports_the_office_limit_and_the_queue_position(client, office):
    _, second, third = submitted(office, {}, {}, {})
    urgent = a_job(office, urgent=True)
    result = explained(client, third)
    assert result["state"] == "ready"
    (reason,) = result["reasons"]
    assert (reason["code"], reason["running"], reason["limit"]) == ("office_limit", 1, 1)
    assert result["queue_position"] == 3
    assert explained(client, urgent)["queue_position"] == 1
    assert explained(client, second)["queue_position"] == 2


def test_a_role_limit_of_0_comes_first(client, office):
    Office.objects.filter(pk=office.pk).update(max_concurrent_jobs=1, max_concurrent_by_role={"QA": 0})
    _, job = submitted(office, {"role": "FE"}, {"role": "QA"})
    reasons = client.get(f"/api/offices/{office.id}/jobs/{job.id}/explain").json()["reasons"]
    assert [reason["code"] for reason in reasons] == ["role_limit", "office_limit"]
    assert reasons[0]["message"] == "The office allows no jobs of the role QA: its limit is 0."


def test_explain_reports_the_role_limit(client, office):
    Office.objects.filter(pk=office.pk).update(max_concurrent_jobs=5, max_concurrent_by_role={"FE": 1})
    office.refresh_from_db()
    _, second = submitted(office, {"role": "FE"}, {"role": "FE"})
    (reason,) = explained(client, second)["reasons"]
    assert (reason["code"], reason["role"], reason["running"], reason["limit"]) == ("role_limit", "FE", 1, 1)


def test_explain_names_unfinished_dependencies(client, office):
    _, _, third = submitted(office, {"ref": "a"}, {"ref": "b"}, {"depends_on": ["a", "b"]})
    reason = explained(client, third)["reasons"][0]
    assert reason["code"] == "dependencies_unfinished"
    assert [job["ref"] for job in reason["jobs"]] == ["a", "b"]
    assert reason["count"] == 2


def test_explain_lists_a_failed_dependency_first(client, office):
    first, _, third = submitted(office, {"ref": "a"}, {"ref": "b"}, {"depends_on": ["a", "b"]})
    running(first).fail(failure_type="git_conflict")
    assert codes(client, third) == ["dependency_failed", "dependencies_unfinished", "office_limit"]
    assert explained(client, third)["reasons"][0]["jobs"][0]["ref"] == "a"
    assert explained(client, third)["estimated_start"] is None


def test_explain_names_the_dependency_that_failed_the_job(client, office):
    first, second = submitted(office, {"ref": "a"}, {"depends_on": ["a"], "on_dependency_failure": "fail"})
    running(first).fail(failure_type="git_conflict")
    result = explained(client, second)
    assert (result["state"], [reason["code"] for reason in result["reasons"]]) == (
        "failed",
        ["dependency_failed"],
    )


def test_explain_reports_a_waiting_retry(client, office):
    job = a_job(office)
    running(job).fail(delay_ms=60_000)
    result = explained(client, job)
    (reason,) = result["reasons"]
    assert (reason["code"], reason["retry_count"]) == ("retry_backoff", 1)
    assert datetime.fromisoformat(reason["until"]) > timezone.now()


@pytest.mark.parametrize(
    ("failure", "why", "remedy"),
    [
        ("git_conflict", "failure_type", "Your intervention is needed: resolve the conflict"),
        ("permission_error", "failure_type", "Check the settings"),
        ("session_error", "retries_used", None),
    ],
)
def test_explain_says_why_a_failed_job_is_not_retried_and_what_to_do(client, office, failure, why, remedy):
    job = a_job(office, max_retries=0)
    running(job).fail(failure, delay_ms=0)
    (reason,) = explained(client, job)["reasons"]
    assert (reason["code"], reason["why"], reason["failure_type"]) == ("not_retried", why, failure)
    events = client.get(f"/api/offices/{office.id}/events").json()["results"]
    (event,) = (event for event in events if event["type"] == "job_failed")
    if remedy is None:
        assert (reason["remedy"], "remedy" in event["details"]) == (None, False)
    else:
        assert reason["remedy"].startswith(remedy)
        assert reason["remedy"] in reason["message"]
        assert event["details"]["remedy"] == reason["remedy"]


def test_explain_reports_a_future_start(client, office):
    when = timezone.now() + timedelta(hours=1)
    job = a_job(office, run_at=when.isoformat())
    result = explained(client, job)
    assert [reason["code"] for reason in result["reasons"]] == ["scheduled"]
    assert datetime.fromisoformat(result["reasons"][0]["until"]) == when
    assert datetime.fromisoformat(result["estimated_start"]) == pytest.approx(when, abs=timedelta(seconds=1))


def test_explain_reports_a_paused_office_and_a_missing_worker(client, office):
    Office.objects.filter(pk=office.pk).update(paused=True)
    job = a_job(office, role="QA")
    assert codes(client, job) == ["office_paused"]
    unserve_roles("QA")
    assert codes(client, job) == ["office_paused", "no_worker_for_role"]
    serve_roles("QA", seconds=-1)
    assert codes(client, job) == ["office_paused", "no_worker_for_role"]


def test_explain_reports_a_job_that_no_worker_has_claimed(client, office):
    job = a_job(office)
    (reason,) = explained(client, job)["reasons"]
    assert reason["code"] == "waiting_for_worker"
    assert datetime.fromisoformat(reason["since"]) <= timezone.now()
    unserve_roles()
    assert codes(client, job) == ["no_worker_for_role", "waiting_for_worker"]


def test_explain_reports_a_running_job(client, office):
    job = a_job(office)
    running(job, worker="w@host")
    (reason,) = explained(client, job)["reasons"]
    assert (reason["code"], reason["worker"], reason["cancelling"]) == ("running", "w@host", False)
    assert datetime.fromisoformat(reason["lease_until"]) > datetime.fromisoformat(reason["since"])


def test_explain_has_no_reasons_for_a_done_job(client, office):
    job = done(a_job(office))
    result = explained(client, job)
    assert result == {"state": "done", "reasons": [], "queue_position": None, "estimated_start": None}


def test_the_start_of_a_job_is_estimated_from_run_times(client, office):
    job = done(a_job(office))
    ten_seconds = "attempt_started_at = finished_at - interval '10 seconds'"
    call.change(f"UPDATE job_executions SET {ten_seconds} WHERE job_id = %s", [job.id])
    _, _, third = submitted(office, {}, {}, {})
    before = timezone.now()
    start = datetime.fromisoformat(explained(client, third)["estimated_start"])
    rounded = timedelta(seconds=1)
    assert before - rounded < start - timedelta(seconds=20) < timezone.now() + rounded
