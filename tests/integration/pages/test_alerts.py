"""The alerts of a user: what is listed, what is new, and for whom."""

import pytest
from django.utils import timezone

from jobs import lifecycle
from jobs.models import Job
from jobs.states import EventType
from scheduler.models import AlertsSeen, Schedule
from scheduler.workflows import runs
from tests.factories import a_job, a_member, a_user, an_office, done, running
from tests.integration.pages.clients import sign_in, signed_in, text_of
from tests.integration.pages.schedule_pages import of_alice
from tests.integration.pages.workflow_pages import made
from tests.schedule_factories import a_step

pytestmark = pytest.mark.django_db


def failing(name: str = "sums", **fields) -> Schedule:
    schedule = of_alice(name=name, **fields)
    Schedule.objects.filter(pk=schedule.pk).update(failing_since=timezone.now(), consecutive_failures=3)
    return schedule


def failed_job(office, ref: str = "build"):
    job = a_job(office, ref=ref, max_retries=0)
    running(job).fail(error="No space left.\nOn any disk.")
    return job


def test_failed_jobs_runs_and_schedules_are_listed_newest_first(office, alice):
    job, schedule = failed_job(office), failing("nightly")
    details = {"workflow_id": str(job.id), "run_id": str(job.id), "workflow": "report", "error": "1 of 2"}
    lifecycle.record_event(office.id, None, EventType.WORKFLOW_RUN_FAILED, details, timezone.now())
    done(a_job(office, ref="fine"))
    answer = alice.get("/alerts")
    page = text_of(answer)
    assert [row["alert"].name for row in answer.context["rows"]] == ["report", "nightly", "build (demo.sum)"]
    assert f'href="/offices/{office.id}/jobs/{job.id}"' in page
    assert f'href="/workflows/{job.id}/runs/{job.id}"' in page
    assert f'href="/schedules/{schedule.id}"' in page
    assert "No space left." in page
    assert "On any disk." not in page
    assert "스케줄 실패 지속" in text_of(sign_in(language="ko").get("/alerts"))


def test_a_failed_workflow_run_is_listed_in_the_readers_language(office, alice):
    workflow = made(office, name="report", steps=[a_step("build", max_retries=0)])
    run = runs.run_now(workflow.id, user_id=a_user("alice").pk, now=timezone.now())
    running(Job.objects.get(batch=run.batch_id)).fail(error="No space left.")
    runs.settle_runs(timezone.now())
    assert "1 of 1 steps failed. build: No space left." in text_of(alice.get("/alerts"))
    assert "1개 단계 중 1개가 실패했습니다. build: No space left." in text_of(
        sign_in(language="ko").get("/alerts")
    )


def test_the_number_counts_what_is_new_until_it_is_marked_as_seen(office, alice):
    assert alice.get("/alerts/new").json() == {"count": 0, "newest": None}
    failed_job(office)
    schedule = failing("nightly")
    new = alice.get("/alerts/new").json()
    assert (new["count"], new["newest"]["text"]) == (2, "nightly")
    assert new["newest"]["address"] == f"/schedules/{schedule.id}"
    until = alice.get("/alerts").context["newest"]
    failed_job(office, "later")
    alice.post("/alerts/seen", {"until": until})
    assert [alice.get("/alerts/new").json()[name] for name in ("count",)] == [1]
    assert alice.get("/alerts/new").json()["newest"]["text"] == "later (demo.sum)"
    assert len(alice.get("/alerts").context["rows"]) == 3


@pytest.mark.parametrize("until", ["", "x", "2026-13-01T00:00:00+09:00", "2026-12-01T00:00:00", "\x00"])
def test_a_time_that_cannot_be_read_marks_nothing(alice, until):
    assert alice.post("/alerts/seen", {"until": until}).status_code == 302
    assert not AlertsSeen.objects.exists()


def test_a_time_to_come_hides_no_alert_of_the_future(office, alice):
    alice.post("/alerts/seen", {"until": "2999-01-01T00:00:00+09:00"})
    failed_job(office)
    assert alice.get("/alerts/new").json()["count"] == 1


def test_a_schedule_that_notifies_an_office_is_listed_once(office, alice):
    schedule = failing("nightly", notify_office=office.id)
    details = {"schedule_id": str(schedule.id), "schedule": "nightly", "error": ""}
    lifecycle.record_event(office.id, None, EventType.SCHEDULE_FAILING, details, timezone.now())
    assert alice.get("/alerts/new").json()["count"] == 1
    vera = signed_in(a_member(office, "vera"))
    assert vera.get("/alerts/new").json()["newest"]["address"] == "/alerts"
    assert "nightly" in text_of(vera.get("/alerts"))


def test_the_alerts_of_others_are_not_shown_to_strangers_nor_to_staff(office):
    failed_job(office)
    failed_job(an_office(a_user("carol"), name="theirs"))
    failing("nightly")
    for client in (sign_in("bob"), sign_in("staff", is_staff=True)):
        assert client.get("/alerts/new").json()["count"] == 0
        assert client.get("/alerts").context["rows"] == []
