"""The pages of replays: upload, refusals and deletion."""

from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from exports import disk, lifecycle
from exports.models import ExportJob, Replay
from exports.render.options import RenderOptions
from exports.states import JobType
from tests.integration import export_tools as tools
from tests.integration.pages.clients import page_text
from tests.integration.pages.export_pages import LOG, export, finished

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folders")]


def upload(client: Client, content: bytes = LOG, name: str = "match.jsonl", **more: Any):
    return client.post("/exports/replays", {"file": SimpleUploadedFile(name, content)}, **more)


def test_a_replay_is_uploaded_and_shown(page, minji):
    answer = upload(page)
    replay = Replay.objects.get()
    assert answer["Location"] == f"/exports/replays/{replay.pk}"
    assert (replay.owner, replay.title, replay.file_name) == (minji, "Final", "match.jsonl")
    html = page_text(page, answer["Location"])
    assert "The replay was uploaded." in html
    assert "event log" in html
    assert "match.jsonl" in html


def test_an_upload_by_script_answers_the_next_url(page):
    answer = upload(page, headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json()["next"]) == (201, f"/exports/replays/{Replay.objects.get().pk}")
    assert "The replay was uploaded." in page_text(page, answer.json()["next"])


def test_a_refused_upload_shows_the_reason(page):
    lines = LOG.decode().split("\n")
    broken = "\n".join([*lines[:3], '{"tick": "x"}']).encode()
    for content, message in ((b"GIF89a", "neither an event log nor"), (broken, "ine 4"), (b"", "neither an")):
        answer = upload(page, content)
        assert answer.status_code == 400
        assert message in answer.content.decode()
        assert 'role="alert"' in answer.content.decode()
    long = page.post("/exports/replays", {"file": SimpleUploadedFile("a", LOG), "title": "x" * 201})
    assert long.status_code == 400
    assert page.post("/exports/replays", {"title": "no file"}).status_code == 400
    assert not Replay.objects.exists()


def test_a_full_disk_is_shown(page, monkeypatch):
    with tools.no_file_larger_than(100):
        answer = upload(page)
    assert answer.status_code == 400
    assert "no space left" in answer.content.decode()


def test_file_names_and_titles_are_escaped(page):
    upload(page, b"".join([LOG]), name='"><script>alert(1)</script>.jsonl')
    page.post(
        "/exports/replays",
        {"file": SimpleUploadedFile("a.jsonl", LOG), "title": "<img src=x onerror=alert(1)>\u202e"},
    )
    replay = Replay.objects.latest("pk")
    job = lifecycle.request(replay, JobType.MP4, timezone.now())
    for path in ("/exports/replays", f"/exports/replays/{replay.pk}", "/exports", f"/exports/{job.pk}"):
        html = page_text(page, path)
        assert "<img src=x" not in html
        assert "<script>alert" not in html
        assert "\u202e" not in html


def test_a_replay_is_deleted_with_its_exports_after_a_confirmation(page, minji):
    job = finished(minji)
    file = settings.DURE_EXPORT_PATH.joinpath(*job.output)
    confirmation = page.post(f"/exports/replays/{job.replay_id}/delete").content.decode()
    assert "Its 1 export and the file are deleted too." in confirmation
    assert file.exists()
    answer = page.post(f"/exports/replays/{job.replay_id}/delete", {"sure": "yes"})
    assert answer["Location"] == "/exports/replays"
    assert not ExportJob.objects.exists()


def test_a_replay_with_a_live_export_stays(page, minji):
    job = export(minji)
    answer = page.post(f"/exports/replays/{job.replay_id}/delete", {"sure": "yes"}, follow=True)
    assert "has not ended: cancel it first" in answer.content.decode()
    assert Replay.objects.exists()


def test_the_list_of_replays_has_pages(page, minji):
    replay = tools.replay_of(minji)
    fields = {
        f.name: getattr(replay, f.name) for f in Replay._meta.fields if f.name not in ("id", "path", "title")
    }
    Replay.objects.bulk_create(Replay(**fields, path=str(n), title=f"r{n}") for n in range(30))
    first = page.get("/exports/replays")
    second = page.get("/exports/replays" + first.context["older"])
    titles = [row.title for answer in (first, second) for row in answer.context["page"].rows]
    assert titles == [*(f"r{n}" for n in range(29, -1, -1)), replay.title]


def test_an_export_of_a_part_is_started_from_the_page(page, minji):
    replay = tools.replay_of(minji, 2)
    form = {"resolution": "480p", "fps": "20", "start": "0.5", "end": "1.25", "sound": "on"}
    answer = page.post(f"/exports/replays/{replay.pk}/webm", form)
    job = ExportJob.objects.get()
    assert answer["Location"] == f"/exports/{job.pk}"
    assert (job.job_type, job.options) == (JobType.WEBM, RenderOptions("480p", 20, 500, 1_250))
    html = page_text(page, answer["Location"])
    assert "480p" in html and "0.5s – 1.2s" in html
    lifecycle.cancel(job.pk, timezone.now())
    page.post(f"/exports/{job.pk}/again")
    assert ExportJob.objects.latest("pk").options == job.options


def test_the_box_for_sound_is_for_videos_only(page, minji):
    replay = tools.replay_of(minji, 2)
    assert '<input type="checkbox" name="sound" id="id_sound" checked>' in page_text(
        page, f"/exports/replays/{replay.pk}"
    )
    for kind, sound in (("mp4", False), ("gif", None), ("thumbnail", None)):
        answer = page.post(f"/exports/replays/{replay.pk}/{kind}", {})
        assert ExportJob.objects.latest("pk").sound is sound
        assert ("left out" in page_text(page, answer["Location"])) == (sound is False)


@pytest.mark.parametrize(
    ("kind", "form", "message"),
    [
        ("mp4", {"resolution": "9p"}, "Select a valid choice"),
        ("mp4", {"fps": "0"}, "greater than or equal to 1"),
        ("gif", {"fps": "30"}, "at most 25"),
        ("thumbnail", {"fps": "30"}, "a thumbnail is one picture"),
        ("mp4", {"start": "nan"}, "Enter a number"),
        ("mp4", {"start": "1", "end": "0.5"}, "must be after its start"),
        ("webm", {"end": "9"}, "The replay is 1.966 s long"),
    ],
)
def test_bad_options_are_shown_beside_what_was_entered(page, minji, kind, form, message):
    replay = tools.replay_of(minji, 2)
    answer = page.post(f"/exports/replays/{replay.pk}/{kind}", form)
    html = answer.content.decode()
    assert answer.status_code == 400
    assert message.casefold() in html.casefold()
    assert all(f'value="{value}"' in html for name, value in form.items() if name != "resolution")
    assert not ExportJob.objects.exists()


def test_the_page_of_replays_shows_how_much_storage_is_used(page, minji, settings):
    finished(minji, content=b"x" * 3_000)
    assert "There is no quota." in page_text(page, "/exports/replays")
    settings.DURE_EXPORT_QUOTA_BYTES = 10 * 2**20
    html = page_text(page, "/exports/replays").replace("\xa0", " ")
    assert (
        f'max="{10 * 2**20}"' in html and "of 10.0 MB used" in html and "Results of exports: 2.9 KB" in html
    )


def test_only_staff_see_the_free_space_of_the_disk(page, minji, monkeypatch, settings):
    assert "for all users" not in page_text(page, "/exports/replays")
    minji.is_staff = True
    minji.save()
    assert f"free at {settings.DURE_EXPORT_PATH}" in page_text(page, "/exports/replays")
    assert "notice warning" not in page_text(page, "/exports/replays")
    monkeypatch.setattr(disk, "FULL", 2**62)
    assert "notice warning" in page_text(page, "/exports/replays")
