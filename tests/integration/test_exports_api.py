"""The REST API of exports: uploads, owners, pages, downloads in ranges, and the paths that are refused."""

import hashlib
import io
import os
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from exports import demo, lifecycle, sample
from exports.models import DeadLetter, ExportJob, Replay, StreamOutbox
from exports.states import JobType, Status
from tests.integration import export_tools as tools
from tests.integration.rest_support import client_of, forget_counts

pytestmark = pytest.mark.django_db
LOG = "\n".join(sample.event_log(1)).encode()


@pytest.fixture(autouse=True)
def folders(settings, tmp_path):
    forget_counts()
    tools.roots(settings, tmp_path)


@pytest.fixture
def minji():
    return tools.user()


@pytest.fixture
def client(minji):
    return client_of(minji)


@pytest.fixture
def stranger():
    return client_of(tools.user("stranger"))


def upload(client: Client, content: bytes = LOG, name: str = "match.jsonl", **fields: Any):
    return client.post("/api/replays", {"file": SimpleUploadedFile(name, content), **fields})


def finished(job: ExportJob, content: bytes = bytes(range(256)) * 40) -> ExportJob:
    """An export with its file, as a worker leaves it."""

    path = settings.DURE_EXPORT_PATH.joinpath(*job.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    ExportJob.objects.filter(pk=job.pk).update(
        status=Status.SUCCEEDED,
        progress=100,
        ended_at=timezone.now(),
        result_uri="/".join(job.output),
        result_checksum=hashlib.sha256(content).hexdigest(),
        result_size=len(content),
    )
    return ExportJob.objects.get(pk=job.pk)


# --- Replays -------------------------------------------------------------------------------------


def test_an_uploaded_event_log_is_read_to_its_end_and_kept(client, settings) -> None:
    answer = upload(client)
    assert answer.status_code == 201
    body = answer.json()
    assert answer["Location"].endswith(f"/api/replays/{body['replayId']}")
    assert (body["title"], body["fileName"], body["kind"]) == ("두레 컵 결승전", "match.jsonl", "eventlog")
    assert (body["sizeBytes"], body["durationMs"]) == (len(LOG), 966)
    row = Replay.objects.get()
    assert (settings.DURE_REPLAY_PATH / row.path).read_bytes() == LOG
    assert client.get(f"/api/replays/{row.pk}").json() == body


def test_a_mistake_in_an_event_log_is_told_with_its_line(client) -> None:
    answer = upload(client, LOG + b'\n{"tick": 1, "event": "too late"}\n')
    assert answer.status_code == 400
    assert answer.json()["code"] == "bad_replay"
    assert "comes after tick" in answer.json()["errors"]["file"][0]
    assert not Replay.objects.exists()


def test_a_video_is_told_by_its_first_bytes_and_not_by_its_name(client) -> None:
    assert upload(client, b"\x00\x00\x00\x20ftypisom" + bytes(100), "a.jsonl").json()["kind"] == "mp4"
    assert upload(client, b"\x1aE\xdf\xa3" + bytes(100), "a.mp4").json()["kind"] == "matroska"
    assert upload(client, b"#EXTM3U\n/etc/passwd", "a.mp4").status_code == 400


@pytest.mark.parametrize(
    "name", ["../../evil.jsonl", "..\\evil.jsonl", "a\nb.jsonl", "x" * 400, "한글 이름.jsonl"]
)
def test_the_name_of_an_upload_never_reaches_the_disk(client, settings, name) -> None:
    answer = upload(client, name=name)
    assert answer.status_code == 201
    files = [path for path in settings.DURE_REPLAY_PATH.rglob("*") if path.is_file()]
    assert [path.name for path in files] == ["replay.jsonl"]
    assert "/" not in answer.json()["fileName"] and "\n" not in answer.json()["fileName"]


def test_an_upload_needs_exactly_one_file_and_nothing_unknown(client) -> None:
    assert client.post("/api/replays", {"title": "x"}).status_code == 400
    assert upload(client, owner="2").status_code == 400
    assert upload(client, title="x" * 201).status_code == 400
    assert client.post("/api/replays", "{}", content_type="application/json").status_code == 415
    two = {"file": [SimpleUploadedFile("a", LOG), SimpleUploadedFile("b", LOG)]}
    assert client.post("/api/replays", two).status_code == 400


def test_the_same_idempotency_key_uploads_once(client) -> None:
    def once(content: bytes):
        file = SimpleUploadedFile("a.jsonl", content)
        return client.post("/api/replays", {"file": file}, headers={"Idempotency-Key": "k1"})

    first, second = once(LOG), once(LOG)
    assert (first.status_code, first.json()) == (second.status_code, second.json())
    assert Replay.objects.count() == 1
    assert once(LOG + b"\n").status_code == 422


def test_deleting_a_replay_takes_its_exports_and_files_along(
    client, minji, settings, django_capture_on_commit_callbacks
) -> None:
    job = finished(tools.export_of(minji))
    with django_capture_on_commit_callbacks(execute=True):
        assert client.delete(f"/api/replays/{job.replay_id}").status_code == 204
    assert not ExportJob.objects.exists()
    for root in (settings.DURE_EXPORT_PATH, settings.DURE_REPLAY_PATH):
        assert not [path for path in root.rglob("*") if path.is_file()]


def test_a_replay_is_not_deleted_while_an_export_of_it_is_made(client, minji) -> None:
    job = tools.export_of(minji)
    answer = client.delete(f"/api/replays/{job.replay_id}")
    assert (answer.status_code, answer.json()["code"]) == (409, "export_live")


# --- Exports -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("address", "job_type"), [("mp4", "MP4"), ("thumbnail", "THUMBNAIL")])
def test_an_export_is_asked_for_and_shown(client, minji, address, job_type) -> None:
    replay = tools.replay_of(minji)
    answer = client.post(f"/api/replays/{replay.pk}/exports/{address}")
    assert answer.status_code == 202
    (job_id,) = answer.json().values()
    assert answer.json() == {"jobId": job_id} and isinstance(job_id, int)
    assert answer["Location"].endswith(f"/api/jobs/{job_id}")
    shown = client.get(f"/api/jobs/{job_id}").json()
    assert shown["createdAt"].endswith("+09:00")
    del shown["createdAt"]
    assert shown == {
        "jobId": job_id,
        "jobType": job_type,
        "replayId": replay.pk,
        "status": "QUEUED",
        "progress": 0,
        "phase": "",
        "message": "",
        **dict.fromkeys(("etaSeconds", "resultUri", "checksum", "sizeBytes", "errorCode", "errorMessage")),
        **dict.fromkeys(("startedAt", "endedAt", "expiredAt")),
    }
    assert StreamOutbox.objects.get().fields["jobId"] == str(job_id)


def test_somebody_elses_is_as_if_it_were_not_there(stranger, minji) -> None:
    job = finished(tools.export_of(minji))
    for method, path in (
        ("get", f"/api/replays/{job.replay_id}"),
        ("delete", f"/api/replays/{job.replay_id}"),
        ("post", f"/api/replays/{job.replay_id}/exports/mp4"),
        ("post", f"/api/replays/{job.replay_id}/exports/thumbnail"),
        ("get", f"/api/jobs/{job.pk}"),
        ("get", f"/api/jobs/{job.pk}/result"),
        ("head", f"/api/jobs/{job.pk}/result"),
        ("post", f"/api/jobs/{job.pk}/cancel"),
    ):
        nothing = path.replace(str(job.replay_id if "replays" in path else job.pk), "999999")
        theirs, none = getattr(stranger, method)(path), getattr(stranger, method)(nothing)
        assert theirs.status_code == none.status_code == 404, path
        assert theirs.content == none.content
    assert stranger.get("/api/jobs").json()["totalElements"] == 0
    assert stranger.get("/api/replays").json()["totalElements"] == 0


def test_without_credentials_nothing_is_answered() -> None:
    for path in ("/api/replays", "/api/jobs", "/api/jobs/1", "/api/jobs/1/result", "/api/deadletters"):
        assert Client().get(path).status_code == 401


def test_the_list_has_pages_and_filters_newest_first(client, minji) -> None:
    replay = tools.replay_of(minji)
    jobs = [
        lifecycle.request(replay, JobType.THUMBNAIL if n % 3 == 0 else JobType.MP4, timezone.now())
        for n in range(7)
    ]
    lifecycle.cancel(jobs[1].pk, timezone.now())
    body = client.get("/api/jobs?page=1&size=3").json()
    assert {name: body[name] for name in ("page", "size", "totalElements", "totalPages")} == {
        "page": 1,
        "size": 3,
        "totalElements": 7,
        "totalPages": 3,
    }
    assert [one["jobId"] for one in body["content"]] == [jobs[n].pk for n in (3, 2, 1)]
    assert client.get("/api/jobs?jobType=THUMBNAIL").json()["totalElements"] == 3
    assert client.get("/api/jobs?status=CANCELLED&jobType=MP4").json()["content"][0]["jobId"] == jobs[1].pk
    assert client.get("/api/jobs?page=9").json()["content"] == []
    for bad in (
        "status=done",
        "jobType=GIF",
        "page=-1",
        "size=0",
        "size=201",
        "page=x",
        "owner=1",
        "size=" + "9" * 50,
    ):
        assert client.get(f"/api/jobs?{bad}").status_code == 400, bad


def test_a_cancel_answers_202_once_and_then_409(client, minji) -> None:
    job = tools.export_of(minji)
    answer = client.post(f"/api/jobs/{job.pk}/cancel")
    assert (answer.status_code, answer.json()["status"]) == (202, "CANCELLED")
    again = client.post(f"/api/jobs/{job.pk}/cancel")
    assert (again.status_code, again.json()["code"]) == (409, "ended")


# --- Downloads -----------------------------------------------------------------------------------


def body_of(answer) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def test_a_result_is_downloaded_whole_with_the_headers_that_keep_it_harmless(client, minji) -> None:
    job = finished(tools.export_of(minji))
    answer = client.get(f"/api/jobs/{job.pk}/result")
    assert answer.status_code == 200
    content = body_of(answer)
    assert hashlib.sha256(content).hexdigest() == job.result_checksum
    assert answer["ETag"] == f'"{job.result_checksum}"'
    assert answer["Content-Length"] == str(len(content))
    assert (answer["Content-Type"], answer["Accept-Ranges"]) == ("video/mp4", "bytes")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Disposition"].startswith("attachment; filename*=utf-8''%EB%91%90")
    assert client.get(f"/api/jobs/{job.pk}").json()["resultUri"] == f"/api/jobs/{job.pk}/result"


@pytest.mark.parametrize(
    ("wanted", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=100-199", 100, 199),
        ("bytes=10000-", 10000, 10239),
        ("bytes=-240", 10000, 10239),
        ("bytes=-99999", 0, 10239),
        ("bytes=5-999999", 5, 10239),
    ],
)
def test_a_range_is_answered_with_just_that(client, minji, wanted, first, last) -> None:
    job = finished(tools.export_of(minji))
    whole = body_of(client.get(f"/api/jobs/{job.pk}/result"))
    answer = client.get(f"/api/jobs/{job.pk}/result", headers={"Range": wanted})
    assert answer.status_code == 206
    assert answer["Content-Range"] == f"bytes {first}-{last}/10240"
    assert body_of(answer) == whole[first : last + 1]


@pytest.mark.parametrize("wanted", ["bytes=10240-", "bytes=9-3", "bytes=-0"])
def test_a_range_outside_of_the_file_is_416(client, minji, wanted) -> None:
    job = finished(tools.export_of(minji))
    answer = client.get(f"/api/jobs/{job.pk}/result", headers={"Range": wanted})
    assert (answer.status_code, answer["Content-Range"]) == (416, "bytes */10240")


@pytest.mark.parametrize(
    "wanted", ["bytes=0-1,5-6", "items=0-1", "bytes=-", "bytes=a-b", "bytes=" + "9" * 400 + "-"]
)
def test_a_range_that_is_none_gets_the_whole_file(client, minji, wanted) -> None:
    job = finished(tools.export_of(minji))
    assert client.get(f"/api/jobs/{job.pk}/result", headers={"Range": wanted}).status_code == 200


def test_conditions_are_heeded(client, minji) -> None:
    job = finished(tools.export_of(minji))
    path, etag = f"/api/jobs/{job.pk}/result", f'"{job.result_checksum}"'
    assert client.get(path, headers={"If-None-Match": etag}).status_code == 304
    assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
    assert client.get(path, headers={"Range": "bytes=0-1", "If-Range": etag}).status_code == 206
    assert client.get(path, headers={"Range": "bytes=0-1", "If-Range": '"other"'}).status_code == 200
    head = client.head(path)
    assert (head.status_code, head["Content-Length"], head.content) == (200, "10240", b"")


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING, Status.FAILED, Status.CANCELLED])
def test_before_success_there_is_nothing_to_download(client, minji, status) -> None:
    job = tools.export_of(minji)
    ended = timezone.now() if status in (Status.FAILED, Status.CANCELLED) else None
    ExportJob.objects.filter(pk=job.pk).update(status=status, ended_at=ended)
    answer = client.get(f"/api/jobs/{job.pk}/result")
    assert (answer.status_code, answer.json()["code"]) == (409, "not_succeeded")


@pytest.mark.parametrize(
    "recorded",
    [
        "../secret",
        "..%2fsecret",
        "%2e%2e/secret",
        "%252e%252e%252fsecret",
        "..\\secret",
        "/etc/passwd",
        "//etc/passwd",
        "C:\\secret",
        "1/../../secret",
        ".",
        "..",
        "x" * 900,
        "{root}-evil/secret",
        "{root}/../secret",
        "/proc/self/environ",
        "folder",
        "link",
        "linked/secret",
        "hard",
        "fifo",
        "a.",
        "a\u200b",
        "\uff0e\uff0e/secret",
    ],
)
def test_a_recorded_path_that_is_no_plain_file_below_the_root_is_400(
    client, minji, settings, recorded
) -> None:
    job = finished(tools.export_of(minji))
    root = settings.DURE_EXPORT_PATH
    secret = root.parent / "secret"
    secret.write_bytes(b"secret")
    evil = root.parent / f"{root.name}-evil"
    evil.mkdir()
    (evil / "secret").write_bytes(b"secret")
    (root / "folder").mkdir()
    (root / "link").symlink_to(secret)
    (root / "linked").symlink_to(root.parent)
    os.link(secret, root / "hard")
    os.mkfifo(root / "fifo")
    ExportJob.objects.filter(pk=job.pk).update(result_uri=recorded.format(root=root), result_size=6)
    answer = client.get(f"/api/jobs/{job.pk}/result")
    assert (answer.status_code, answer.json()["code"]) == (400, "outside_export_root")
    assert b"secret" not in answer.content


def test_a_file_that_is_gone_or_another_one_is_404(client, minji, settings) -> None:
    job = finished(tools.export_of(minji))
    path = settings.DURE_EXPORT_PATH / job.result_uri
    path.write_bytes(b"shorter")
    assert client.get(f"/api/jobs/{job.pk}/result").json()["code"] == "file_gone"
    path.unlink()
    assert client.get(f"/api/jobs/{job.pk}/result").status_code == 404


def test_a_link_swapped_in_during_a_download_changes_nothing_of_it(client, minji, settings, tmp_path) -> None:
    job = finished(tools.export_of(minji), b"film" * 500_000)
    answer = client.get(f"/api/jobs/{job.pk}/result")
    parts = iter(answer.streaming_content)
    got = next(parts)
    path = settings.DURE_EXPORT_PATH / job.result_uri
    (tmp_path / "secret").write_bytes(b"secret" * 400_000)
    path.unlink()
    path.symlink_to(tmp_path / "secret")
    got += b"".join(parts)
    assert hashlib.sha256(got).hexdigest() == job.result_checksum
    assert client.get(f"/api/jobs/{job.pk}/result").status_code == 400


@pytest.mark.parametrize("title", ['a"b', "a\r\nSet-Cookie: x=1", "결승;전", "../../a", "a%0d%0ab", "😀", ""])
def test_no_title_breaks_the_header_of_a_download(client, minji, title) -> None:
    job = finished(tools.export_of(minji))
    Replay.objects.update(title=title)
    answer = client.get(f"/api/jobs/{job.pk}/result")
    assert answer.status_code == 200
    assert "Set-Cookie" not in answer.headers
    assert answer["Content-Disposition"].startswith("attachment")
    assert "\n" not in answer["Content-Disposition"]


# --- Dead letters --------------------------------------------------------------------------------


def letter(**more: Any) -> DeadLetter:
    plain = {"source_stream": "job.progress", "source_id": "1-0", "fields": {"jobId": "7"}, "reason": "none"}
    return DeadLetter.objects.create(**{**plain, "failed_at": timezone.now(), **more})


def test_dead_letters_are_for_staff_alone(client) -> None:
    row = letter()
    for method, path in (
        ("get", "/api/deadletters"),
        ("get", f"/api/deadletters/{row.pk}"),
        ("post", f"/api/deadletters/{row.pk}/republish"),
        ("post", f"/api/deadletters/{row.pk}/discard"),
    ):
        assert getattr(client, method)(path).status_code == 403
    assert not StreamOutbox.objects.exists()


def test_staff_look_at_dead_letters_send_them_again_and_discard_them() -> None:
    staff = client_of(tools.user("ops", is_staff=True))
    first, second, cut = letter(), letter(source_id="2-0"), letter(source_id="3-0", whole=False)
    assert staff.get("/api/deadletters?state=open").json()["totalElements"] == 3
    assert staff.get(f"/api/deadletters/{first.pk}").json()["fields"] == {"jobId": "7"}
    answer = staff.post(f"/api/deadletters/{first.pk}/republish")
    assert (answer.status_code, answer.json()["state"], answer.json()["handledBy"]) == (
        200,
        "republished",
        "ops",
    )
    assert StreamOutbox.objects.get().fields == {"jobId": "7"}
    assert staff.post(f"/api/deadletters/{first.pk}/republish").status_code == 409
    assert staff.post(f"/api/deadletters/{second.pk}/discard").json()["state"] == "discarded"
    assert staff.post(f"/api/deadletters/{cut.pk}/republish").json()["code"] == "not_whole"
    assert staff.post("/api/deadletters/99999/discard").status_code == 404
    assert staff.get("/api/deadletters?state=odd").status_code == 400


def test_an_operator_handles_dead_letters_and_exports_in_the_admin(minji) -> None:
    admin, row, job = Client(), letter(), tools.export_of(minji)
    admin.force_login(tools.user("root", is_staff=True, is_superuser=True))
    for table, action, chosen in (("deadletter", "republish", row.pk), ("exportjob", "cancel", job.pk)):
        page = f"/admin/exports/{table}/"
        assert admin.get(page).status_code == 200
        assert admin.get(f"{page}{chosen}/change/").status_code == 200
        assert admin.get(f"{page}add/").status_code == 403
        form = {"action": action, "_selected_action": [chosen], "sure": "yes"}
        assert admin.post(page, form).status_code == 302
    assert DeadLetter.objects.get().state == "republished"
    assert ExportJob.objects.get().status == Status.CANCELLED


def test_an_upload_is_not_read_as_a_whole(client) -> None:
    """A log above the spool size still has its lines counted."""
    lines = io.StringIO()
    for line in sample.event_log(60, players=10):
        lines.write(line + "\n")
    big = (lines.getvalue() + " \n" * 2_000_000).encode()
    assert len(big) > 4_000_000
    assert upload(client, big).status_code == 201


def test_the_demonstration_is_filled_once(minji) -> None:
    first, second = demo.fill(minji, timezone.now()), demo.fill(minji, timezone.now())
    assert first == second
    assert (Replay.objects.count(), ExportJob.objects.count()) == (1, 1)
    assert Replay.objects.get().duration_ms == 119_966


def test_an_upload_to_a_full_disk_says_so_and_leaves_nothing(client, settings) -> None:
    with tools.no_file_larger_than(1_000):
        answer = upload(client)
    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (507, "no_space", "60")
    assert not Replay.objects.exists()
    assert not [path for path in settings.DURE_REPLAY_PATH.rglob("*") if path.is_file()]


def test_every_problem_of_exports_is_explained_at_its_address(client, minji) -> None:
    job = tools.export_of(minji)
    for answer in (client.get(f"/api/jobs/{job.pk}/result"), client.delete(f"/api/replays/{job.replay_id}")):
        assert client.get(f"/api/problems/{answer.json()['code']}").status_code == 200
