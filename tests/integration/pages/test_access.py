"""Access to the pages: visitors, members, staff, sign-in and sign-out, and the language."""

import pytest
from django.test import Client

from jobs.models import Job
from jobs.states import JobStatus
from tests.factories import a_member, a_user, an_office, fresh, submitted
from tests.integration.pages.clients import at, sign_in, signed_in
from tests.integration.rest_support import make_user

pytestmark = pytest.mark.django_db


def pages_of(job: Job) -> list[str]:
    paths = ["/jobs", f"/jobs/{job.id}", f"/jobs/{job.id}/live", "/batches"]
    return [
        at(job.office, path) for path in [*paths, f"/batches/{job.batch_id}", f"/batches/{job.batch_id}/live"]
    ]


def test_another_users_office_is_in_no_list(office):
    submitted(office, {"ref": "secret work"}, name="b")
    mallory = sign_in("mallory")
    for path in ("/", "/offices", "/monitor/live"):
        assert "secret work" not in mallory.get(path).content.decode()
        assert office.name not in mallory.get(path).content.decode()


def test_a_job_is_shown_in_its_own_office_only(office, alice):
    other = an_office(a_user("alice"), name="other")
    (job,) = submitted(other, {}, name="b")
    assert alice.get(at(office, f"/jobs/{job.id}")).status_code == 404
    assert alice.get(at(office, f"/batches/{job.batch_id}")).status_code == 404
    form = {"verb": "cancel", "job": str(job.id)}
    request_path = alice.post(at(office, "/jobs/act"), form).context["preview"]
    assert (request_path.changed, request_path.skipped) == (0, 0)
    alice.post(at(office, "/jobs/act"), {**form, "sure": "yes"})
    assert fresh(job).status != JobStatus.CANCELLED


def test_a_viewer_sees_everything_and_cannot_act(office):
    job, _ = submitted(office, {}, {}, name="b")
    vera = signed_in(a_member(office, "vera"))
    for path in pages_of(job):
        page = vera.get(path)
        assert page.status_code == 200, path
        assert b'name="verb"' not in page.content
        assert b"/cancel" not in page.content
    assert vera.post(at(office, f"/jobs/{job.id}/cancel")).status_code == 403
    form = {"verb": "cancel", "scope": "matching", "sure": "yes"}
    assert vera.post(at(office, "/jobs/act"), form).status_code == 403
    assert not Job.objects.filter(status=JobStatus.CANCELLED).exists()


def test_staff_see_every_office_and_act_in_none(office):
    (job,) = submitted(office, {}, name="b")
    steve = sign_in("steve", is_staff=True)
    assert {steve.get(path).status_code for path in pages_of(job)} == {200}
    assert steve.post(at(office, f"/jobs/{job.id}/cancel")).status_code == 403


def test_a_page_is_in_the_selected_language(office):
    client = Client(headers={"Accept-Language": "en"})
    assert "Sign in" in client.get("/login").content.decode()
    client.post("/language", {"language": "ko", "next": "/login"})
    page = client.get("/login").content.decode()
    assert '<html lang="ko">' in page
    assert "로그인" in page
    client.force_login(a_user("alice"))
    assert "최근 실패" in client.get("/").content.decode()


def test_signing_in_leads_back_to_the_requested_page_of_this_site_only():
    make_user("carol")
    form = {"username": "carol", "password": "correct horse"}
    assert Client().post("/login", {**form, "next": "/offices"})["Location"] == "/offices"
    assert Client().post("/login", {**form, "next": "https://evil.example/"})["Location"] == "/"
    wrong = Client().post("/login", {**form, "password": "wrong"})
    assert wrong.status_code == 200
    assert b'role="alert"' in wrong.content


def test_signing_in_is_throttled(settings):
    rates = {**settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"], "login": "3/min"}
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": rates}
    form = {"username": "carol", "password": "wrong"}
    assert [Client().post("/login", form).status_code for _ in range(4)] == [200, 200, 200, 429]


def test_signing_out_needs_a_post(alice):
    assert alice.get("/logout").status_code == 405
    assert alice.post("/logout")["Location"] == "/login"
    assert alice.get("/").status_code == 302
