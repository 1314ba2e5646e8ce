"""The metrics of exports."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from redis import Redis

from exports import outbox, streams
from exports.messages import PROGRESS
from exports.models import DeadLetter, ExportJob
from exports.states import JobType, Status
from jobs.metrics import REGISTRY
from tests.integration import export_tools as tools

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis")]
STREAM = {"stream": PROGRESS, "group": streams.BACKEND}


def figure(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(name, labels)


def ends(job: ExportJob, status: str, seconds: float = 8, **more: Any) -> None:
    now = timezone.now()
    result = {"result_uri": "a", "result_checksum": "b", "result_size": 1}
    ExportJob.objects.filter(pk=job.pk).update(
        status=status,
        started_at=now - timedelta(seconds=seconds),
        ended_at=now,
        **(result if status == Status.SUCCEEDED else {}),
        **more,
    )


def test_live_exports_are_counted_with_their_age(minji) -> None:
    assert figure("dure_exports", status="QUEUED") == figure("dure_export_oldest_queued_seconds") == 0
    queued, running = tools.export_of(minji), tools.export_of(minji)
    ago = timezone.now() - timedelta(seconds=90)
    ExportJob.objects.filter(pk=queued.pk).update(created_at=ago)
    ExportJob.objects.filter(pk=running.pk).update(status=Status.RUNNING, heard_at=ago)
    assert figure("dure_exports", status="QUEUED") == figure("dure_exports", status="RUNNING") == 1
    assert figure("dure_export_oldest_queued_seconds") == pytest.approx(90, abs=20)
    assert figure("dure_export_silent_seconds") == pytest.approx(90, abs=20)


def test_recently_ended_exports_are_counted_with_their_duration(minji) -> None:
    made, foreign, stalled, picture = (tools.export_of(minji) for _ in range(4))
    ends(made, Status.SUCCEEDED)
    ends(picture, Status.SUCCEEDED, 2, job_type=JobType.THUMBNAIL)
    ends(foreign, Status.FAILED, error_code="GPU_BURNT")
    ends(stalled, Status.FAILED, error_code="STALLED")
    assert figure("dure_exports_1h", status="SUCCEEDED") == figure("dure_exports_1h", status="FAILED") == 2
    failed = [figure("dure_exports_failed_1h", code=code) for code in ("STALLED", "other", "GPU_BURNT")]
    assert failed == [1, 1, None]
    assert figure("dure_export_seconds", type="MP4") == pytest.approx(8, abs=0.1)
    assert figure("dure_export_seconds", type="THUMBNAIL") == pytest.approx(2, abs=0.1)
    ExportJob.objects.filter(pk=made.pk).update(ended_at=timezone.now() - timedelta(hours=2))
    assert figure("dure_exports_1h", status="SUCCEEDED") == 1


def test_open_dead_letters_are_counted() -> None:
    assert figure("dure_dead_letters") == figure("dure_dead_letter_oldest_seconds") == 0
    ago = timezone.now() - timedelta(seconds=500)
    plain = {"source_stream": PROGRESS, "fields": {}, "reason": "none", "failed_at": ago}
    DeadLetter.objects.create(source_id="1-0", **plain)
    DeadLetter.objects.create(source_id="2-0", state="discarded", handled_at=ago, **plain)
    assert figure("dure_dead_letters") == 1
    assert figure("dure_dead_letter_oldest_seconds") == pytest.approx(500, abs=20)


def test_unsent_messages_are_counted(redis, minji) -> None:
    tools.export_of(minji)
    assert figure("dure_stream_outbox") == 1
    outbox.send_once(redis)
    assert figure("dure_stream_outbox") == figure("dure_stream_outbox_oldest_seconds") == 0


def test_the_lag_of_each_group_is_measured(redis, minji) -> None:
    assert figure("dure_stream_pending", **STREAM) is None  # there is no stream yet
    listener, worker, job = tools.listen(redis), tools.ForeignWorker(redis), tools.export_of(minji)
    ago = int((timezone.now() - timedelta(seconds=300)).timestamp() * 1000)
    redis.xadd(PROGRESS, {"jobId": str(job.pk), "progress": "1"}, id=f"{ago}-0")
    worker.progress(job, 10)
    assert (figure("dure_stream_lag", **STREAM), figure("dure_stream_pending", **STREAM)) == (2, 0)
    assert figure("dure_stream_oldest_seconds", **STREAM) == pytest.approx(300, abs=20)
    streams.read(redis, "dies", [PROGRESS], 1, None)
    assert (figure("dure_stream_lag", **STREAM), figure("dure_stream_pending", **STREAM)) == (1, 1)
    assert figure("dure_stream_oldest_seconds", **STREAM) == pytest.approx(300, abs=20)
    streams.acknowledge(redis, [streams.Entry(PROGRESS, f"{ago}-0", {})])
    tools.drain(listener)
    assert (figure("dure_stream_lag", **STREAM), figure("dure_stream_pending", **STREAM)) == (0, 0)
    assert figure("dure_stream_oldest_seconds", **STREAM) == 0


def test_metrics_without_redis_lack_only_the_streams(monkeypatch) -> None:
    away = Redis.from_url("redis://127.0.0.1:1/0", decode_responses=True)
    monkeypatch.setattr("jobs.redis.client", lambda: away)
    assert figure("dure_collector_up", collector="streams") == 0
    for name in ("exports", "dead_letters", "stream_outbox"):
        assert figure("dure_collector_up", collector=name) == 1
