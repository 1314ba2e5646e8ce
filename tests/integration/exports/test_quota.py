"""The storage quota of an owner: replays and unexpired results count, and nothing above it is kept."""

import io

import pytest
from django.utils import timezone

from exports import replays
from exports.models import ExportJob, Replay
from exports.quota import usage_of
from jobs.errors import TooLarge
from tests.integration import export_tools as tools
from tests.integration.exports.outcomes import finished
from tests.integration.exports.test_replays import LOG, upload
from tests.integration.pages.clients import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folders", "fresh_counts")]


def usage(client) -> dict[str, int | None]:
    body: dict[str, int | None] = client.get("/api/replays/usage").json()
    return body


def test_the_usage_counts_replays_and_results_that_have_not_expired(client, minji, settings) -> None:
    assert usage(client) == {"replayBytes": 0, "resultBytes": 0, "usedBytes": 0, "quotaBytes": None}
    settings.DURE_EXPORT_QUOTA_BYTES = 10**6
    job = finished(tools.export_of(minji), b"x" * 100)
    tools.export_of(tools.user("jisoo"))
    size = job.replay.size_bytes
    parts = {"replayBytes": size, "resultBytes": 100}
    assert usage(client) == parts | {"usedBytes": size + 100, "quotaBytes": 10**6}
    ExportJob.objects.filter(pk=job.pk).update(expired_at=timezone.now())
    assert usage(client)["usedBytes"] == size


def test_an_upload_above_the_quota_is_refused_and_not_kept(client, minji, settings) -> None:
    settings.DURE_EXPORT_QUOTA_BYTES = 2 * len(LOG)
    assert [upload(client).status_code for _ in range(2)] == [201, 201]
    answer = upload(client)
    assert (answer.status_code, answer.json()["code"]) == (413, "quota_exceeded")
    assert Replay.objects.count() == 2
    assert len([path for path in settings.DURE_REPLAY_PATH.rglob("*") if path.is_file()]) == 2
    other = replays.store(tools.user("jisoo"), io.BytesIO(LOG), "a", "", timezone.now())
    assert other.size_bytes == len(LOG)
    assert client.delete(f"/api/replays/{Replay.objects.filter(owner=minji)[0].pk}").status_code == 204
    assert upload(client).status_code == 201


def test_the_quota_is_checked_again_as_the_row_is_written(minji, settings, monkeypatch) -> None:
    """Simulates another upload between the first check and the row."""
    settings.DURE_EXPORT_QUOTA_BYTES = len(LOG)
    real = replays._place

    def place(parts, source):
        if not Replay.objects.exists():
            Replay.objects.create(
                owner=minji, path="1/other/a", size_bytes=1, created_at=timezone.now(), kind="mp4"
            )
        return real(parts, source)

    monkeypatch.setattr(replays, "_place", place)
    with pytest.raises(TooLarge):
        replays.store(minji, io.BytesIO(LOG), "a", "", timezone.now())
    assert usage_of(minji.pk).used_bytes == 1
    assert not [path for path in settings.DURE_REPLAY_PATH.rglob("*") if path.is_file()]


def test_no_export_starts_when_the_quota_is_used_up(client, minji, settings) -> None:
    replay = tools.replay_of(minji)
    settings.DURE_EXPORT_QUOTA_BYTES = replay.size_bytes
    path = f"/api/replays/{replay.pk}/exports/mp4"
    answer = client.post(path, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (413, "quota_exceeded")
    page = signed_in(minji).post(f"/exports/replays/{replay.pk}/mp4", follow=True)
    assert "Your replays and exports use" in page.content.decode()
    assert not ExportJob.objects.exists()
    settings.DURE_EXPORT_QUOTA_BYTES += 1
    assert client.post(path, content_type="application/json").status_code == 202
