"""The page of one export: its film or picture, its progress, and why it failed."""

import pytest
from django.conf import settings
from django.utils import timezone

from exports.models import ExportJob
from exports.states import JobType, Status
from tests.integration.pages.export_pages import export, finished, running
from tests.integration.pages.readers import text

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folders")]


def test_a_finished_film_plays_in_the_page_and_its_address_answers_ranges(page, minji):
    job, picture = finished(minji), finished(minji, JobType.THUMBNAIL)
    ExportJob.objects.filter(pk=picture.pk).update(replay=job.replay)
    shown, file = text(page, f"/exports/{job.pk}"), f"/api/jobs/{job.pk}/result"
    assert f'<video controls preload="metadata" playsinline width="1280" height="720" src="{file}"' in shown
    assert f'poster="/api/jobs/{picture.pk}/result"' in shown
    assert "data-live" not in shown
    part = page.get(file, headers={"Range": "bytes=1-3"})
    assert (part.status_code, b"".join(part.streaming_content)) == (206, b"ilm")


def test_pages_let_films_pictures_and_sockets_come_from_their_own_server_only(page, minji):
    for path in (f"/exports/{finished(minji).pk}", "/exports", "/exports/replays"):
        answer = page.get(path)
        policy = answer["Content-Security-Policy"]
        # What has no directive of its own falls back to this one.
        assert "default-src 'self'" in policy
        assert not {"media-src", "connect-src"} & {part.split()[0] for part in policy.split("; ")}
        for forbidden in (' style="', "<style", "onclick", "<script>", 'src="http'):
            assert forbidden not in answer.content.decode(), (path, forbidden)


def test_a_thumbnail_is_shown_with_words_for_who_cannot_see_it(page, minji):
    job = finished(minji, JobType.THUMBNAIL)
    title = job.replay.title
    assert f'alt="Highlight frame of “{title}”"' in text(page, f"/exports/{job.pk}")
    assert f'alt="Picture from “{title}”"' in text(page, "/exports")


def test_a_file_that_is_gone_is_not_offered(page, minji):
    job = finished(minji)
    settings.DURE_EXPORT_PATH.joinpath(*job.output).unlink()
    shown = text(page, f"/exports/{job.pk}")
    assert "The file no longer exists." in shown
    assert "<video" not in shown
    assert "Export again" in shown


def test_a_file_that_is_kept_no_longer_is_not_offered_and_can_be_asked_for_again(page, minji):
    job = finished(minji)
    ExportJob.objects.filter(pk=job.pk).update(expired_at=timezone.now())
    shown = text(page, f"/exports/{job.pk}")
    assert "The file has expired." in shown
    assert "<video" not in shown
    assert "Export again" in shown
    assert "Expired" in text(page, "/exports")


@pytest.mark.parametrize(
    ("code", "name", "todo"),
    [
        ("BAD_REPLAY", "invalid replay", "Fix the file and upload it again."),
        ("STALLED", "worker stalled", "Export again."),
        ("GPU_ON_FIRE", "error of a foreign worker", "ask the operator of that worker"),
    ],
)
def test_a_failure_says_what_happened_and_what_to_do(page, minji, code, name, todo):
    job = export(
        minji,
        status=Status.FAILED,
        ended_at=timezone.now(),
        error_code=code,
        error_message="line 7: <b>no</b> \u202etick",
    )
    shown = text(page, f"/exports/{job.pk}")
    for part in (code, name, todo, "line 7: &lt;b&gt;no&lt;/b&gt; \\u202etick"):
        assert part in shown, part


def test_every_error_of_ours_has_a_name_and_advice():
    from exports import display
    from exports.states import ErrorCode

    assert set(display.ADVICE) == set(ErrorCode.values)


def test_a_bar_says_what_it_is_the_progress_of(page, minji):
    job = running(minji)
    shown = text(page, "/exports")
    label = f"Progress of MP4 video, {job.replay.title}"
    assert f'<progress max="100" value="40" data-part="bar" aria-label="{label}"></progress>' in shown
    assert "rendering" in shown
    assert "about 0:30 left" in shown


def test_words_of_a_foreign_worker_are_shown_harmless(page, minji):
    job = running(minji, message="<script>x</script>\u202e")
    ExportJob.objects.filter(pk=job.pk).update(phase="<i>\u200b")
    shown = text(page, f"/exports/{job.pk}")
    assert "&lt;i&gt;\\u200b" in shown
    assert "&lt;script&gt;x&lt;/script&gt;\\u202e" in shown
