"""Retention deletes the file of an ended export first and its row later; live exports and replays stay."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as live_settings
from django.contrib.auth.models import User
from django.utils import timezone

from exports import orphan_files, retention
from exports.models import DeadLetter, ExportJob, Replay
from exports.states import Status
from tests.integration import export_tools as tools
from tests.integration.exports.outcomes import after, finished
from tests.integration.rest_support import client_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folders", "fresh_counts")]
NOTHING = {"expired": 0, "links": 0, "deleted": 0, "dead_letters": 0}


@pytest.fixture(autouse=True)
def retention_settings(settings):
    settings.DURE_EXPORT_FILE_DAYS = 10
    settings.DURE_EXPORT_RETENTION_DAYS = 30


def ended(owner: User, days_ago: float, status: str = Status.SUCCEEDED) -> ExportJob:
    """An export that ended so long ago, with its file if it succeeded."""
    job = tools.export_of(owner)
    if status == Status.SUCCEEDED:
        finished(job, b"film")
    at = timezone.now() - timedelta(days=days_ago)
    ExportJob.objects.filter(pk=job.pk).update(status=status, ended_at=at)
    return after(job)


def file_of(job: ExportJob) -> Path:
    return live_settings.DURE_EXPORT_PATH.joinpath(*job.output)


def unchanged(job: ExportJob) -> ExportJob:
    """Sets the times of the folder to the export's end."""
    at = job.ended_at.timestamp()
    os.utime(file_of(job).parent, (at, at))
    return job


def swept() -> int:
    """Prunes as the listener does once a minute."""
    return orphan_files.sweep_once(timezone.now(), timedelta(), changed_within=timedelta(hours=1))


def test_an_old_export_expires_and_its_file_is_removed(minji) -> None:
    old, young = ended(minji, 11), ended(minji, 9)
    assert retention.prune(timezone.now()) == NOTHING | {"expired": 1}
    assert after(old).expired_at and not after(young).expired_at
    assert swept() == 1
    assert file_of(young).exists() and not file_of(old).exists()
    assert retention.prune(timezone.now()) == NOTHING
    client = client_of(minji)
    body = client.get(f"/api/jobs/{old.pk}").json()
    assert (body["status"], body["resultUri"], body["sizeBytes"]) == ("SUCCEEDED", None, 4)
    assert body["expiredAt"].endswith("+09:00")
    answer = client.get(f"/api/jobs/{old.pk}/result")
    assert (answer.status_code, answer.json()["code"]) == (404, "file_gone")
    assert client.get(f"/api/jobs/{young.pk}/result").status_code == 200


def test_an_expired_export_is_not_served_before_the_sweep_either(minji) -> None:
    old = ended(minji, 11)
    retention.prune(timezone.now())
    assert file_of(old).exists()
    assert client_of(minji).get(f"/api/jobs/{old.pk}/result").status_code == 404


def test_an_unchanged_folder_is_swept_when_its_export_expires(minji) -> None:
    """The quick sweep skips unchanged folders."""
    unchanged(ended(minji, 11))
    assert swept() == 0
    retention.prune(timezone.now())
    assert swept() == 1


def test_a_missed_sweep_is_done_when_the_listener_starts(minji) -> None:
    old = unchanged(ended(minji, 11))
    retention.prune(timezone.now() - timedelta(hours=5))
    assert swept() == 0
    assert orphan_files.sweep_once(timezone.now(), timedelta()) == 1
    assert not file_of(old).exists()


def test_the_row_of_an_export_is_deleted_a_day_after_its_file_expired(minji) -> None:
    failed, cancelled = ended(minji, 31, Status.FAILED), ended(minji, 31, Status.CANCELLED)
    made, young = ended(minji, 31), ended(minji, 28, Status.FAILED)
    replays = Replay.objects.count()
    assert retention.prune(timezone.now()) == NOTHING | {"expired": 1, "deleted": 2}
    assert set(ExportJob.objects.all()) == {made, young}
    assert retention.prune(timezone.now() + timedelta(hours=23)) == NOTHING
    assert retention.prune(timezone.now() + timedelta(hours=25)) == NOTHING | {"deleted": 1}
    assert set(ExportJob.objects.all()) == {young}
    assert Replay.objects.count() == replays
    assert {failed.pk, cancelled.pk}.isdisjoint(ExportJob.objects.values_list("pk", flat=True))
    # No row names its file any more, so the sweep removes it.
    assert orphan_files.sweep_once(timezone.now(), timedelta()) == 1


def test_live_exports_are_not_pruned(minji) -> None:
    queued, running = tools.export_of(minji), tools.export_of(minji)
    long_ago = timezone.now() - timedelta(days=1_000)
    ExportJob.objects.update(created_at=long_ago, heard_at=long_ago)
    ExportJob.objects.filter(pk=running.pk).update(status=Status.RUNNING)
    assert retention.prune(timezone.now()) == NOTHING
    assert set(ExportJob.objects.all()) == {queued, running}


@pytest.mark.parametrize(
    ("file_days", "row_days", "expected"),
    [
        (0, 0, NOTHING),
        (0, 30, {"expired": 1, "deleted": 1}),  # a file does not outlive its row
        (10, 0, {"expired": 2}),
        (60, 30, {"expired": 1, "deleted": 1}),
    ],
)
def test_zero_days_keep_exports_forever(minji, settings, file_days, row_days, expected) -> None:
    settings.DURE_EXPORT_FILE_DAYS, settings.DURE_EXPORT_RETENTION_DAYS = file_days, row_days
    ended(minji, 20), ended(minji, 40), ended(minji, 40, Status.FAILED)
    assert retention.prune(timezone.now()) == NOTHING | expected


def test_several_batches_are_pruned_in_one_pass(minji) -> None:
    for _ in range(5):
        ended(minji, 11)
    assert retention.prune(timezone.now(), batch=2)["expired"] == 5


def test_a_started_download_completes(minji) -> None:
    old = ended(minji, 11)
    answer: Any = client_of(minji).get(f"/api/jobs/{old.pk}/result")
    retention.prune(timezone.now())
    assert swept() == 1
    assert b"".join(answer.streaming_content) == b"film"


def test_handled_dead_letters_are_pruned_and_open_ones_stay(minji, settings) -> None:
    settings.DURE_RETENTION_DAYS = 5
    long_ago = timezone.now() - timedelta(days=6)

    def a_dead_letter(own_id: str, **more) -> DeadLetter:
        plain = {"source_stream": "job.progress", "fields": {}, "reason": "none", "failed_at": long_ago}
        return DeadLetter.objects.create(source_id=own_id, **{**plain, **more})

    opened = a_dead_letter("1-0")
    a_dead_letter("2-0", state="discarded", handled_at=long_ago)
    lately = a_dead_letter("3-0", state="republished", handled_at=timezone.now())
    assert retention.prune(timezone.now()) == NOTHING | {"dead_letters": 1}
    assert set(DeadLetter.objects.all()) == {opened, lately}
