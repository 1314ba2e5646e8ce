"""The pages of exports: access, start, cancel, and the list."""

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from exports import lifecycle
from exports.models import ExportJob, StreamOutbox
from exports.states import JobType, Status
from tests.integration import export_tools as tools
from tests.integration.pages.clients import page_text
from tests.integration.pages.clients import signed_in as reader
from tests.integration.pages.export_pages import export, finished, running

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folders")]


# --- access ----------------------------------------------------------------------------------------


def addresses(job: ExportJob) -> list[str]:
    return [f"/exports/{job.pk}", f"/exports/replays/{job.replay_id}"]


def actions(job: ExportJob) -> list[str]:
    of_replay = [f"/exports/replays/{job.replay_id}/{verb}" for verb in ("mp4", "thumbnail", "delete")]
    return [f"/exports/{job.pk}/cancel", f"/exports/{job.pk}/again", *of_replay]


def test_other_users_and_staff_get_404(minji):
    job = finished(minji)
    for other in (tools.user("mallory"), tools.user("steve", is_staff=True)):
        stranger = reader(other)
        assert {stranger.get(path).status_code for path in addresses(job)} == {404}
        assert {stranger.post(path, {"sure": "yes"}).status_code for path in actions(job)} == {404}
        assert page_text(stranger, f"/exports/parts?id={job.pk}&as=full").strip() == ""
        for path in ("/exports", "/exports/replays"):
            assert job.replay.title not in page_text(stranger, path)
    assert ExportJob.objects.count() == 1


def test_an_impossible_id_is_404(page):
    for number in (0, 2**63, 10**30):
        assert page.get(f"/exports/{number}").status_code == 404
        assert page.get(f"/exports/replays/{number}").status_code == 404
    assert page_text(page, f"/exports/parts?id={10**30}&id=x&id=-1").strip() == ""


# --- start and cancel ------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "job_type"), [("mp4", JobType.MP4), ("thumbnail", JobType.THUMBNAIL)])
def test_an_export_is_started(page, minji, kind, job_type):
    replay = tools.replay_of(minji)
    answer = page.post(f"/exports/replays/{replay.pk}/{kind}")
    job = ExportJob.objects.get()
    assert answer["Location"] == f"/exports/{job.pk}"
    assert (job.job_type, job.status) == (job_type, Status.QUEUED)
    assert StreamOutbox.objects.get().fields["jobId"] == str(job.pk)
    assert "Export started." in page_text(page, answer["Location"])
    assert page.post(f"/exports/replays/{replay.pk}/avi").status_code == 404


def test_a_second_cancel_is_refused(page, minji):
    job = export(minji)
    first = page.post(f"/exports/{job.pk}/cancel", follow=True).content.decode()
    assert "The export was cancelled." in first
    job.refresh_from_db()
    assert job.status == Status.CANCELLED
    assert "Started" not in first
    again = page.post(f"/exports/{job.pk}/cancel", follow=True).content.decode()
    assert "has already ended" in again


def test_a_failed_export_is_started_again_as_a_new_one(page, minji):
    now = timezone.now()
    job = export(minji, JobType.THUMBNAIL, status=Status.FAILED, ended_at=now, error_code="STALLED")
    answer = page.post(f"/exports/{job.pk}/again")
    new = ExportJob.objects.latest("pk")
    assert answer["Location"] == f"/exports/{new.pk}"
    assert (new.job_type, new.replay_id, new.status) == (job.job_type, job.replay_id, Status.QUEUED)
    job.refresh_from_db()
    assert job.status == Status.FAILED


def test_a_live_export_is_not_started_again(page, minji):
    job = export(minji)
    assert "has not ended yet" in page.post(f"/exports/{job.pk}/again", follow=True).content.decode()
    assert ExportJob.objects.count() == 1


# --- the list --------------------------------------------------------------------------------------


def ids(answer: Any) -> list[int]:
    return [row.job.pk for row in answer.context["exports"]]


def test_the_filter_is_in_the_url(page, minji):
    a, b, c = export(minji), export(minji, JobType.THUMBNAIL), export(minji)
    lifecycle.cancel(a.pk, timezone.now())
    assert ids(page.get("/exports")) == [c.pk, b.pk, a.pk]
    assert ids(page.get("/exports?kind=MP4")) == [c.pk, a.pk]
    assert ids(page.get("/exports?kind=MP4&state=CANCELLED")) == [a.pk]
    wrong = page.get("/exports?state=odd")
    assert (wrong.status_code, ids(wrong)) == (200, [])
    assert b'role="alert"' in wrong.content


def test_pages_keep_the_filter(page, minji):
    replay, now = tools.replay_of(minji), timezone.now()
    made = [lifecycle.request(replay, JobType.MP4, now).pk for _ in range(30)]
    first = page.get("/exports?kind=MP4")
    second = page.get("/exports" + first.context["older"])
    assert ids(first) + ids(second) == made[::-1]
    assert "kind=MP4" in second.context["newer"]
    assert ids(page.get("/exports" + second.context["newer"])) == ids(first)


def test_the_list_needs_a_constant_number_of_queries(page, minji, django_assert_max_num_queries):
    replay, now = tools.replay_of(minji), timezone.now()
    for _ in range(25):
        lifecycle.request(replay, JobType.MP4, now)
    with django_assert_max_num_queries(8):
        page.get("/exports")


def test_the_live_parts_are_table_rows_or_a_full_section(page, minji):
    job = export(minji)
    rows = page_text(page, f"/exports/parts?as=rows&id={job.pk}")
    full = page_text(page, f"/exports/parts?as=full&id={job.pk}")
    assert rows.strip().startswith(f'<tr data-export="{job.pk}" data-status="QUEUED"')
    assert full.strip().startswith(f'<div class="stack" data-export="{job.pk}" data-status="QUEUED"')
    assert "csrfmiddlewaretoken" in full


def test_the_menu_links_to_exports(page):
    assert '<a href="/exports">Exports</a>' in page_text(page, "/")


def test_the_pages_are_translated(minji):
    client = Client(headers={"Accept-Language": "ko"})
    client.force_login(minji)
    job = running(minji)
    html = client.get(f"/exports/{job.pk}").content.decode()
    # From 20 seconds for 40 %, and from what the test itself took until here.
    assert re.search(r"약 \d:\d\d 남음", html)
    assert "리플레이" in html
    assert '"RENDERING": "' in client.get("/exports").context["phases"]
