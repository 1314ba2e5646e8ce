"""The page of one export: its video or thumbnail, its progress, and its failure."""

import re

import pytest
from django.conf import settings
from django.utils import timezone

from exports.models import ExportJob
from exports.states import JobType, Status
from tests.integration.pages.clients import page_text
from tests.integration.pages.export_pages import export, finished, running

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folders")]


def test_a_finished_video_plays_in_the_page_by_ranges(page, minji):
    job, picture = finished(minji), finished(minji, JobType.THUMBNAIL)
    ExportJob.objects.filter(pk=picture.pk).update(replay=job.replay)
    html, file = page_text(page, f"/exports/{job.pk}"), f"/api/jobs/{job.pk}/result"
    assert f'<video controls preload="metadata" playsinline width="1280" height="720" src="{file}"' in html
    assert f'poster="/api/jobs/{picture.pk}/result"' in html
    assert "data-live" not in html
    part = page.get(file, headers={"Range": "bytes=1-3"})
    assert (part.status_code, b"".join(part.streaming_content)) == (206, b"ilm")


def test_a_thumbnail_has_an_alternative_text(page, minji):
    job = finished(minji, JobType.THUMBNAIL)
    title = job.replay.title
    assert f'alt="Highlight frame of “{title}”"' in page_text(page, f"/exports/{job.pk}")
    assert f'alt="Picture from “{title}”"' in page_text(page, "/exports")


def test_a_missing_or_expired_file_is_not_offered_and_can_be_exported_again(page, minji):
    missing, expired = finished(minji), finished(minji)
    settings.DURE_EXPORT_PATH.joinpath(*missing.output).unlink()
    ExportJob.objects.filter(pk=expired.pk).update(expired_at=timezone.now())
    for job, reason in ((missing, "The file no longer exists."), (expired, "The file has expired.")):
        html = page_text(page, f"/exports/{job.pk}")
        assert reason in html
        assert "<video" not in html
        assert "Export again" in html
    assert "Expired" in page_text(page, "/exports")


@pytest.mark.parametrize(
    ("code", "name", "todo"),
    [
        ("BAD_REPLAY", "Invalid replay", "Fix the file and upload it again."),
        ("STALLED", "Worker stalled", "Export again."),
        ("GPU_ON_FIRE", "Error of a foreign worker", "ask the operator of that worker"),
    ],
)
def test_a_failure_shows_its_cause_and_advice(page, minji, code, name, todo):
    job = export(
        minji,
        status=Status.FAILED,
        ended_at=timezone.now(),
        error_code=code,
        error_message="line 7: <b>no</b> \u202etick",
    )
    html = page_text(page, f"/exports/{job.pk}")
    for part in (code, name, todo, "line 7: &lt;b&gt;no&lt;/b&gt; \\u202etick"):
        assert part in html, part


def test_every_error_code_has_advice():
    from exports import display
    from exports.states import ErrorCode

    assert set(display.ADVICE) == set(ErrorCode.values)


def test_a_progress_bar_has_a_label(page, minji):
    job = running(minji)
    html = page_text(page, "/exports")
    label = f"Progress of MP4 video, {job.replay.title}"
    assert f'<progress max="100" value="40" data-part="bar" aria-label="{label}"></progress>' in html
    assert "rendering" in html
    # From 20 seconds for 40 %, and from what the test itself took until here.
    assert re.search(r"about \d:\d\d left", html)


def test_texts_of_a_foreign_worker_are_escaped(page, minji):
    job = running(minji, message="<script>x</script>\u202e")
    ExportJob.objects.filter(pk=job.pk).update(phase="<i>\u200b")
    html = page_text(page, f"/exports/{job.pk}")
    assert "&lt;i&gt;\\u200b" in html
    assert "&lt;script&gt;x&lt;/script&gt;\\u202e" in html
