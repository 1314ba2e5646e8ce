"""Our own export workers and listener: results, cancels and failures, with one pair of processes."""

import os
import signal
from collections.abc import Iterator
from typing import cast

import av
import pytest
from django.conf import settings as live_settings
from django.test import override_settings
from django.utils import timezone

from exports import lifecycle
from exports.models import DeadLetter, ExportEvent, StreamOutbox
from exports.states import JobType, Status
from jobs.models import Attempt, Execution
from tests.concurrency.export_processes import after, check_result, ended, files, readers, running, swept
from tests.engine_workers import ending_what_runs
from tests.integration import export_tools as tools
from tests.workers import Process, eventually

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def processes(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[dict[str, Process]]:
    folder = tmp_path_factory.mktemp("exports")
    paths = {"DURE_EXPORT_PATH": folder / "exports", "DURE_REPLAY_PATH": folder / "replays"}
    with (
        override_settings(**paths, DURE_LEASE_SECONDS=2.0, DURE_REPUBLISH_SECONDS=1.0),
        django_db_blocker.unblock(),
        tools.empty_redis() as redis,
    ):
        redis.flushdb()
        with running(folder, "export1", "listen1") as started:
            yield started
        redis.flushdb()


@pytest.fixture(autouse=True)
def worker(processes, transactional_db) -> Iterator[Process]:
    """The worker, idle at the start and at the end of each test, and its folder without files."""
    with ending_what_runs():
        yield processes["export1"]
    for path in (*files(), *live_settings.DURE_REPLAY_PATH.rglob("*.*")):
        path.unlink()


def test_our_own_workers_complete_an_export() -> None:
    mp4 = tools.export_of(tools.user(), seconds=20)
    thumbnail = tools.export_of(tools.user("b"), JobType.THUMBNAIL)
    swept(lambda: ended(mp4, thumbnail))
    check_result(mp4)
    check_result(thumbnail)
    done = after(mp4)
    with av.open(str(live_settings.DURE_EXPORT_PATH / done.result_uri)) as video:
        stream = video.streams.video[0]
        assert (stream.codec_context.name, stream.frames) == ("h264", 600)
    phases = [event.data["phase"] for event in ExportEvent.objects.filter(job_id=mp4.pk).order_by("id")]
    assert list(dict.fromkeys(phases)) == ["PREPARING", "RENDERING", "FINALIZING"]
    attempt = Attempt.objects.get(execution__source=str(mp4.pk))
    # By the clock of the run: the listener may be held up, and then writes several events at once.
    spent = (attempt.ended_at - attempt.started_at).total_seconds()
    assert len(phases) <= 4 * spent + 6  # and one for each phase, and the result
    assert not DeadLetter.objects.exists()
    assert not StreamOutbox.objects.exists()


@pytest.mark.parametrize("kind", ["event log", "video"])
def test_a_cancel_stops_the_render_soon_and_leaves_no_file(worker, tmp_path, kind) -> None:
    owner = tools.user()
    video = tools.video_of(owner, tmp_path, 2_000) if kind == "video" else tools.replay_of(owner, 200)
    job = lifecycle.request(video, JobType.MP4, timezone.now())
    swept(lambda: after(job).progress > 3)
    assert len(readers(worker)) == (kind == "video")
    lifecycle.cancel(job.pk, timezone.now())
    eventually(lambda: Execution.objects.get().status == "CANCELLED")
    assert not readers(worker)
    assert after(job).status == Status.CANCELLED
    eventually(lambda: not files(), what="the half-made file to go")
    # The same worker renders the next export.
    following = tools.export_of(tools.user("b"), JobType.THUMBNAIL)
    swept(lambda: ended(following))
    check_result(following)


def test_a_crashing_decoder_fails_its_export_and_not_the_worker(worker, tmp_path) -> None:
    owner = tools.user()
    job = lifecycle.request(tools.video_of(owner, tmp_path, 2_000), JobType.MP4, timezone.now())
    (reader,) = cast(set[int], swept(lambda: readers(worker)))
    pool = set(worker.children())
    swept(lambda: after(job).progress > 3)
    os.kill(reader, signal.SIGSEGV)
    swept(lambda: ended(job))
    following = tools.export_of(tools.user("b"), JobType.THUMBNAIL)
    swept(lambda: ended(following))
    assert set(worker.children()) == pool
    done = after(job)
    assert (done.status, done.error_code) == (Status.FAILED, "BAD_REPLAY")
    assert "SIGSEGV" in done.error_message
    assert Execution.objects.get(source=str(job.pk)).crash_count == 0
    check_result(following)
    assert len(files()) == 1
