"""Downloads of results: whole, by ranges, and with hostile paths and titles."""

import hashlib
import os

import pytest
from django.utils import timezone

from exports.models import ExportJob, Replay
from exports.states import Status
from tests.integration import export_tools as tools
from tests.integration.exports.outcomes import finished

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folders", "fresh_counts")]


def body_of(answer) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def test_a_result_is_downloaded_with_safe_headers(client, minji) -> None:
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


def test_a_client_may_ask_for_plain_bytes(client, minji) -> None:
    job = finished(tools.export_of(minji))
    answer = client.get(f"/api/jobs/{job.pk}/result", headers={"Accept": "application/octet-stream"})
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/octet-stream")
    assert hashlib.sha256(body_of(answer)).hexdigest() == job.result_checksum


@pytest.mark.parametrize(
    ("byte_range", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=100-199", 100, 199),
        ("bytes=10000-", 10000, 10239),
        ("bytes=-240", 10000, 10239),
        ("bytes=-99999", 0, 10239),
        ("bytes=5-999999", 5, 10239),
    ],
)
def test_a_range_is_answered_with_206(client, minji, byte_range, first, last) -> None:
    job = finished(tools.export_of(minji))
    whole = body_of(client.get(f"/api/jobs/{job.pk}/result"))
    answer = client.get(f"/api/jobs/{job.pk}/result", headers={"Range": byte_range})
    assert answer.status_code == 206
    assert answer["Content-Range"] == f"bytes {first}-{last}/10240"
    assert body_of(answer) == whole[first : last + 1]


@pytest.mark.parametrize("byte_range", ["bytes=10240-", "bytes=9-3", "bytes=-0"])
def test_a_range_outside_the_file_is_416(client, minji, byte_range) -> None:
    job = finished(tools.export_of(minji))
    answer = client.get(f"/api/jobs/{job.pk}/result", headers={"Range": byte_range})
    assert (answer.status_code, answer["Content-Range"]) == (416, "bytes */10240")


@pytest.mark.parametrize(
    "byte_range", ["bytes=0-1,5-6", "items=0-1", "bytes=-", "bytes=a-b", "bytes=" + "9" * 400 + "-"]
)
def test_an_invalid_range_gets_the_whole_file(client, minji, byte_range) -> None:
    job = finished(tools.export_of(minji))
    assert client.get(f"/api/jobs/{job.pk}/result", headers={"Range": byte_range}).status_code == 200


def test_conditional_requests_are_answered(client, minji) -> None:
    job = finished(tools.export_of(minji))
    path, etag = f"/api/jobs/{job.pk}/result", f'"{job.result_checksum}"'
    assert client.get(path, headers={"If-None-Match": etag}).status_code == 304
    assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
    assert client.get(path, headers={"Range": "bytes=0-1", "If-Range": etag}).status_code == 206
    assert client.get(path, headers={"Range": "bytes=0-1", "If-Range": '"other"'}).status_code == 200
    head = client.head(path)
    assert (head.status_code, head["Content-Length"], head.content) == (200, "10240", b"")


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING, Status.FAILED, Status.CANCELLED])
def test_a_download_before_success_is_409(client, minji, status) -> None:
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
def test_a_recorded_path_outside_the_root_or_not_a_plain_file_is_400(
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


def test_a_missing_or_replaced_file_is_404(client, minji, settings) -> None:
    job = finished(tools.export_of(minji))
    path = settings.DURE_EXPORT_PATH / job.result_uri
    path.write_bytes(b"shorter")
    assert client.get(f"/api/jobs/{job.pk}/result").json()["code"] == "file_gone"
    path.unlink()
    assert client.get(f"/api/jobs/{job.pk}/result").status_code == 404


def test_a_link_swapped_in_during_a_download_has_no_effect(client, minji, settings, tmp_path) -> None:
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
def test_a_download_header_survives_any_title(client, minji, title) -> None:
    job = finished(tools.export_of(minji))
    Replay.objects.update(title=title)
    answer = client.get(f"/api/jobs/{job.pk}/result")
    assert answer.status_code == 200
    assert "Set-Cookie" not in answer.headers
    assert answer["Content-Disposition"].startswith("attachment")
    assert "\n" not in answer["Content-Disposition"]
