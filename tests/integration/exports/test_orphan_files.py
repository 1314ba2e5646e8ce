"""The sweep removes files that no row names, and no others."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings as live_settings
from django.utils import timezone

from exports import lifecycle, orphan_files
from exports.models import Replay
from tests.integration import export_tools as tools
from tests.integration.exports.outcomes import finished

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folders")]
AT_ONCE = timedelta()


def put(*parts: str) -> Path:
    path = live_settings.DURE_EXPORT_PATH.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"film")
    return path


def test_the_recorded_file_stays_and_its_neighbours_are_removed(minji) -> None:
    job = finished(tools.export_of(minji))
    other = put(*job.folder, "other.mp4")
    assert orphan_files.sweep_once(timezone.now(), AT_ONCE) == 1
    assert live_settings.DURE_EXPORT_PATH.joinpath(*job.output).exists() and not other.exists()


def test_files_of_an_export_in_progress_stay(minji) -> None:
    path = put(*tools.export_of(minji).output)
    assert orphan_files.sweep_once(timezone.now(), AT_ONCE) == 0
    assert path.exists()


def test_files_of_cancelled_and_deleted_exports_are_removed(minji) -> None:
    job = tools.export_of(minji)
    cancelled, nobodys = put(*job.output), put("999", "999", "replay-1.mp4")
    lifecycle.cancel(job.pk, timezone.now())
    assert orphan_files.sweep_once(timezone.now(), AT_ONCE) == 2
    assert not cancelled.exists() and not nobodys.exists()


def test_partial_files_of_dead_workers_are_removed_once_the_export_has_ended(minji) -> None:
    job, upload = tools.export_of(minji), tools.replay_of(minji)
    part = put(*job.folder, ".replay-1.mp4.abc.part")
    other = (live_settings.DURE_REPLAY_PATH / upload.path).with_name(".replay.jsonl.abc.part")
    other.write_bytes(b"half")
    assert orphan_files.sweep_once(timezone.now(), AT_ONCE) == 1
    assert part.exists() and not other.exists()
    lifecycle.cancel(job.pk, timezone.now())
    assert orphan_files.sweep_once(timezone.now(), AT_ONCE) == 1
    assert not part.exists()


def test_young_files_stay(minji) -> None:
    put("999", "999", "replay-1.mp4")
    assert orphan_files.sweep_once(timezone.now()) == 0
    assert orphan_files.sweep_once(timezone.now() + timedelta(seconds=61)) == 1


def test_a_quick_sweep_reads_changed_folders_only(minji) -> None:
    path = put("999", "999", "replay-1.mp4")
    long_ago = timezone.now().timestamp() - 7200
    os.utime(path.parent, (long_ago, long_ago))
    assert orphan_files.sweep_once(timezone.now(), AT_ONCE, changed_within=timedelta(hours=1)) == 0
    assert orphan_files.sweep_once(timezone.now(), AT_ONCE) == 1


def test_uploads_without_a_row_are_removed(minji) -> None:
    kept = live_settings.DURE_REPLAY_PATH / tools.replay_of(minji).path
    lost = live_settings.DURE_REPLAY_PATH / tools.replay_of(minji).path
    Replay.objects.latest("id").delete()
    assert orphan_files.sweep_once(timezone.now(), AT_ONCE) == 1
    assert kept.exists() and not lost.exists()


def test_other_files_of_an_operator_stay(minji) -> None:
    readme = live_settings.DURE_EXPORT_PATH / "README"
    readme.parent.mkdir(parents=True)
    readme.write_text("mine")
    (live_settings.DURE_EXPORT_PATH / "5" / "6").parent.mkdir()
    (live_settings.DURE_EXPORT_PATH / "5" / "6").symlink_to(live_settings.DURE_EXPORT_PATH)
    assert orphan_files.sweep_once(timezone.now() + timedelta(days=1)) == 0
    assert readme.exists()
