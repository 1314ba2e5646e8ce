"""Replays in the REST API: upload, storage and deletion."""

import io
import json
import sys
from functools import cache
from typing import Any

import av
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from PIL import Image

from exports import lifecycle, sample_replay
from exports.models import ExportJob, Replay
from exports.render import sandbox
from exports.states import JobType
from jobs.states import Act
from tests.integration import export_tools as tools
from tests.integration.exports.outcomes import finished

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folders", "fresh_counts")]
LOG = "\n".join(sample_replay.event_log(1)).encode()


@cache
def small_video(kind: str) -> bytes:
    """Two seconds at ten pictures a second."""
    file = io.BytesIO()
    picture = Image.effect_noise((160, 90), 90).convert("RGB")
    with av.open(file, "w", format=kind) as out:
        stream = out.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 160, 90, "yuv420p"
        for turn in range(20):
            out.mux(stream.encode(av.VideoFrame.from_image(picture.rotate(turn))))
        out.mux(stream.encode(None))
    return file.getvalue()


def upload(client: Client, content: bytes = LOG, name: str = "match.jsonl", **fields: Any):
    return client.post("/api/replays", {"file": SimpleUploadedFile(name, content), **fields})


def test_an_uploaded_event_log_is_read_to_its_end_and_stored(client, settings) -> None:
    answer = upload(client)
    assert answer.status_code == 201
    body = answer.json()
    assert answer["Location"].endswith(f"/api/replays/{body['replayId']}")
    assert (body["title"], body["fileName"], body["kind"]) == ("두레 컵 결승전", "match.jsonl", "eventlog")
    assert (body["sizeBytes"], body["durationMs"]) == (len(LOG), 966)
    row = Replay.objects.get()
    assert (settings.DURE_REPLAY_PATH / row.path).read_bytes() == LOG
    assert client.get(f"/api/replays/{row.pk}").json() == body


def test_a_mistake_in_an_event_log_is_reported_with_its_line(client) -> None:
    answer = upload(client, LOG + b'\n{"tick": 1, "event": "too late"}\n')
    assert answer.status_code == 400
    assert answer.json()["code"] == "bad_replay"
    assert "comes after tick" in answer.json()["errors"]["file"][0]
    assert not Replay.objects.exists()


@pytest.mark.parametrize("kind", ["mp4", "matroska", "avi"])
def test_a_video_is_detected_by_its_first_bytes_and_measured(client, minji, redis, kind) -> None:
    body = upload(client, small_video(kind), "a.jsonl").json()
    assert (body["kind"], body["durationMs"]) == (kind, pytest.approx(2_000, abs=100))
    job = lifecycle.request(Replay.objects.get(), JobType.MP4, timezone.now())
    options = json.loads(lifecycle.request_message(job).fields()["options"])
    assert options["durationMs"] == body["durationMs"]


@pytest.mark.parametrize("size", [12, 100, 3_000])
@pytest.mark.parametrize("kind", ["mp4", "matroska", "avi"])
def test_a_broken_video_is_refused_and_not_kept(client, settings, kind, size) -> None:
    answer = upload(client, small_video(kind)[:size] + bytes(100), "a.mp4")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_replay")
    assert answer.json()["errors"]["file"]
    assert not Replay.objects.exists()
    assert not [path for path in settings.DURE_REPLAY_PATH.rglob("*") if path.is_file()]


def test_a_playlist_is_no_video(client) -> None:
    assert upload(client, b"#EXTM3U\n/etc/passwd", "a.mp4").status_code == 400


def test_a_video_that_only_we_cannot_measure_is_kept(client, monkeypatch) -> None:
    monkeypatch.setattr(sandbox, "COMMAND", (sys.executable, "-c", "raise SystemExit('no disk')"))
    answer = upload(client, small_video("mp4"), "a.mp4")
    assert (answer.status_code, answer.json()["durationMs"]) == (201, None)


def test_a_measurement_takes_a_limited_time(client, monkeypatch) -> None:
    monkeypatch.setattr(sandbox, "MEASURE_SECONDS", 0.0)
    monkeypatch.setattr(sandbox, "COMMAND", (sys.executable, "-c", "import time; time.sleep(60)"))
    answer = upload(client, small_video("mp4"), "a.mp4")
    assert (answer.status_code, answer.json()["code"]) == (413, "bad_replay")
    assert not Replay.objects.exists()


@pytest.mark.parametrize(
    "name", ["../../evil.jsonl", "..\\evil.jsonl", "a\nb.jsonl", "x" * 400, "한글 이름.jsonl"]
)
def test_the_name_of_an_upload_is_not_used_on_disk(client, settings, name) -> None:
    answer = upload(client, name=name)
    assert answer.status_code == 201
    files = [path for path in settings.DURE_REPLAY_PATH.rglob("*") if path.is_file()]
    assert [path.name for path in files] == ["replay.jsonl"]
    assert "/" not in answer.json()["fileName"] and "\n" not in answer.json()["fileName"]


def test_an_upload_takes_exactly_one_file_and_known_fields(client) -> None:
    assert client.post("/api/replays", {"title": "x"}).status_code == 400
    assert upload(client, owner="2").status_code == 400
    assert upload(client, title="x" * 201).status_code == 400
    assert client.post("/api/replays", "{}", content_type="application/json").status_code == 415
    two = {"file": [SimpleUploadedFile("a", LOG), SimpleUploadedFile("b", LOG)]}
    assert client.post("/api/replays", two).status_code == 400


def test_an_upload_is_not_read_into_memory(client) -> None:
    """A log above the spool size is also reported with its line."""
    lines = io.StringIO()
    for line in sample_replay.event_log(60, players=10):
        lines.write(line + "\n")
    big = (lines.getvalue() + " \n" * 2_000_000).encode()
    assert len(big) > 4_000_000
    assert upload(client, big).status_code == 201


def test_an_upload_to_a_full_disk_is_507_and_leaves_no_file(client, settings) -> None:
    with tools.no_file_larger_than(1_000):
        answer = upload(client)
    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (507, "no_space", "60")
    assert not Replay.objects.exists()
    assert not [path for path in settings.DURE_REPLAY_PATH.rglob("*") if path.is_file()]


def test_a_deleted_replay_takes_its_exports_and_files_along(
    client, minji, settings, django_capture_on_commit_callbacks
) -> None:
    job = finished(tools.export_of(minji))
    with django_capture_on_commit_callbacks(execute=True):
        assert client.delete(f"/api/replays/{job.replay_id}").status_code == 204
    assert not ExportJob.objects.exists()
    for root in (settings.DURE_EXPORT_PATH, settings.DURE_REPLAY_PATH):
        assert not [path for path in root.rglob("*") if path.is_file()]


def test_a_replay_with_a_live_export_is_not_deleted(client, minji) -> None:
    job = tools.export_of(minji)
    answer = client.delete(f"/api/replays/{job.replay_id}")
    assert (answer.status_code, answer.json()["code"]) == (409, "export_live")


def test_uploads_deletions_and_cancelled_exports_are_in_the_log_of_the_account(client, minji) -> None:
    replay = upload(client, title="final").json()["replayId"]
    assert upload(client, b"no replay").status_code == 400
    path = f"/api/replays/{replay}/exports/mp4"
    export = client.post(path, {}, content_type="application/json").json()["jobId"]
    for expected in (202, 409):
        assert client.post(f"/api/jobs/{export}/cancel").status_code == expected
    assert client.delete(f"/api/replays/{replay}").status_code == 204
    assert list(minji.activity.order_by("id").values_list("act", "details")) == [
        (Act.REPLAY_UPLOADED, {"replay": replay, "title": "final"}),
        (Act.EXPORT_CANCELLED, {"export": export}),
        (Act.REPLAY_DELETED, {"replay": replay, "title": "final"}),
    ]
