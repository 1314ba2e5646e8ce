"""The task that renders an export: its file, its failures, its second start."""

import av
import pytest
from django.conf import settings as live_settings
from django.utils import timezone
from redis import Redis

from dure import TaskFailure
from dure.testing import FakeContext
from exports import lifecycle, replays, tasks
from exports.failures import text
from exports.files import Store
from exports.messages import PROGRESS
from exports.models import ExportJob
from exports.render.options import RenderOptions
from exports.reports import report_of
from exports.states import JobType, Status
from tests.integration import export_tools as tools
from tests.unit.test_export_sound import changed, film

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis")]


@pytest.fixture
def job() -> ExportJob:
    return tools.export_of(tools.user(), seconds=2)


def left() -> list[str]:
    return [path.name for path in live_settings.DURE_EXPORT_PATH.rglob("*") if path.is_file()]


def test_a_render_obeys_the_options_of_the_job() -> None:
    replay = tools.replay_of(tools.user(), seconds=2)
    job = lifecycle.request(replay, JobType.WEBM, timezone.now(), RenderOptions("360p", 10, 500, 1_500))
    tasks.render(FakeContext(), job.pk)
    with Store(live_settings.DURE_EXPORT_PATH).open(job.output) as file, av.open(file) as video:
        frames = list(video.decode(video=0))
    assert (len(frames), frames[0].width) == (10, 640)
    assert job.output[-1].endswith(".webm")


def test_a_render_returns_path_and_checksum_and_sends_progress(job, redis) -> None:
    ctx = FakeContext()
    answer = tasks.render(ctx, job.pk)
    with Store(live_settings.DURE_EXPORT_PATH).open(job.output) as file:
        assert file.read(12)[4:] == b"ftypisom"
    assert answer["resultUri"] == str(live_settings.DURE_EXPORT_PATH.joinpath(*job.output))
    assert len(answer["checksum"]) == 64
    sent = [fields for _, fields in redis.xrange(PROGRESS)]
    assert sent[0][b"phase"] == b"PREPARING"
    assert {fields[b"jobId"] for fields in sent} == {str(job.pk).encode()}
    fractions = [fraction or 0.0 for fraction, _ in ctx.reported]
    assert fractions == sorted(fractions) and max(fractions) < 1


def test_a_video_whose_sound_cannot_be_read_is_rendered_and_says_so(tmp_path, caplog) -> None:
    whole = film(tmp_path / "whole.mkv", "libx264", "flac")
    broken = changed(whole, tmp_path / "broken.mkv", lambda at, data: bytes(len(data)))
    with broken.open("rb") as file:
        replay = replays.store(tools.user(), file, "film.mkv", "", timezone.now())
    job = lifecycle.request(replay, JobType.MP4, timezone.now())
    answer = tasks.render(FakeContext(), job.pk)
    message = report_of(job.pk, "SUCCESS", answer, "", "").error_message
    assert message == text("sound_unreadable") and message in caplog.text
    with Store(live_settings.DURE_EXPORT_PATH).open(job.output) as output, av.open(output) as video:
        assert len(video.streams.video) == 1 and not video.streams.audio


def test_a_second_start_reports_the_file_of_the_first(job) -> None:
    first = tasks.render(FakeContext(), job.pk)
    path = live_settings.DURE_EXPORT_PATH.joinpath(*job.output)
    first_stat = path.stat()
    assert tasks.render(FakeContext(), job.pk) == first
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (first_stat.st_ino, first_stat.st_mtime_ns)
    assert left() == [path.name]


@pytest.mark.parametrize("size", [0, 60_000])
def test_a_full_disk_fails_the_run_and_leaves_no_file(job, size) -> None:
    with (
        tools.no_file_larger_than(size),
        pytest.raises(TaskFailure, match=r"^DISK_FULL: .*Free some") as failed,
    ):
        tasks.render(FakeContext(), job.pk)
    assert failed.value.failure_type == "error"
    assert left() == []


def test_a_retry_after_a_full_disk_starts_clean(job) -> None:
    with tools.no_file_larger_than(60_000), pytest.raises(TaskFailure):
        tasks.render(FakeContext(), job.pk)
    assert tasks.render(FakeContext(), job.pk)["sizeBytes"] > 60_000
    assert len(left()) == 1


def test_a_cancel_leaves_no_file(job) -> None:
    ctx = FakeContext()
    ctx.cancelled = True
    with pytest.raises(TaskFailure) as stopped:
        tasks.render(ctx, job.pk)
    assert stopped.value.failure_type == "cancelled"
    assert left() == []


def test_an_ended_export_is_not_rendered(job) -> None:
    ExportJob.objects.filter(pk=job.pk).update(status=Status.CANCELLED, ended_at=job.created_at)
    with pytest.raises(TaskFailure):
        tasks.render(FakeContext(), job.pk)
    assert left() == []


@pytest.mark.parametrize(
    "content", [b"", b"nothing we know", b'{"format": "dure-replay/1"}', b"\x00\x00\x00\x20ftypisom"]
)
def test_an_unreadable_replay_fails_with_its_code(content) -> None:
    job = tools.export_of(tools.user(), JobType.THUMBNAIL)
    (live_settings.DURE_REPLAY_PATH / job.replay.path).write_bytes(content)
    with pytest.raises(TaskFailure, match=r"^BAD_REPLAY: .+") as failed:
        tasks.render(FakeContext(), job.pk)
    assert failed.value.failure_type == "invalid_args"


def test_a_replay_replaced_by_a_link_is_not_followed(job, tmp_path) -> None:
    path = live_settings.DURE_REPLAY_PATH / job.replay.path
    (tmp_path / "other").write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(tmp_path / "other")
    with pytest.raises(TaskFailure, match=r"^REPLAY_MISSING"):
        tasks.render(FakeContext(), job.pk)


def test_a_redis_outage_loses_progress_and_not_the_file(job, monkeypatch) -> None:
    away = Redis.from_url("redis://127.0.0.1:1/0")
    monkeypatch.setattr("jobs.redis.client", lambda: away)
    assert tasks.render(FakeContext(), job.pk)["sizeBytes"] > 0
