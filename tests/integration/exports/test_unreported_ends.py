"""Ends without a worker's report: cancels, stalls, and our own runs that failed or left no result."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from redis.exceptions import ConnectionError as RedisAway

from exports import lifecycle, orphan_files, outbox, reports, streams
from exports.messages import CONTROL
from exports.models import ExportJob
from exports.states import ErrorCode, JobType, Status
from jobs.errors import Conflict
from jobs.models import Execution
from tests.integration import export_tools as tools
from tests.integration.exports.outcomes import after
from tests.schedule_factories import claim

pytestmark = pytest.mark.django_db


def test_a_cancel_is_final_at_once_and_a_late_result_leaves_no_file(redis, minji) -> None:
    job, worker = tools.export_of(minji), tools.ForeignWorker(redis)
    listener = tools.listen(redis)
    worker.progress(job, 50)
    tools.drain(listener)
    lifecycle.cancel(job.pk, timezone.now())
    path = worker.deliver(job)
    tools.drain(listener)
    assert (after(job).status, after(job).progress) == (Status.CANCELLED, 50)
    with pytest.raises(Conflict):
        lifecycle.cancel(job.pk, timezone.now())
    assert orphan_files.sweep_once(timezone.now(), min_age=timedelta()) == 1
    assert not path.exists()


def test_a_cancel_cancels_the_execution(redis, minji) -> None:
    job = tools.export_of(minji)
    listener = tools.listen(redis, worker=True)
    tools.drain(listener)
    lifecycle.cancel(job.pk, timezone.now())
    tools.drain(listener)
    assert Execution.objects.get().status == "CANCELLED"
    assert redis.xlen(CONTROL) == 0


def test_foreign_workers_hear_of_a_cancel_and_of_a_stall_once(redis, minji) -> None:
    cancelled, stalled = tools.export_of(minji), tools.export_of(minji)
    worker, listener = tools.ForeignWorker(redis), tools.listen(redis)
    worker.progress(cancelled, 10)
    worker.progress(stalled, 10)
    tools.drain(listener)
    with pytest.raises(RuntimeError), transaction.atomic():
        lifecycle.cancel(cancelled.pk, timezone.now())
        raise RuntimeError  # nothing is sent before the commit
    lifecycle.cancel(cancelled.pk, timezone.now())
    with pytest.raises(RedisAway):
        outbox.send_once(streams.connect("redis://127.0.0.1:1/0"))  # an outage only delays it
    assert lifecycle.fail_stalled(timezone.now(), timedelta(), JobType.MP4) == 1
    tools.drain(listener)
    assert [fields for _, fields in redis.xrange(CONTROL)] == [
        {b"jobId": str(job.pk).encode(), b"action": b"cancel"} for job in (cancelled, stalled)
    ]


def test_the_control_stream_does_not_grow_without_limit(redis, monkeypatch) -> None:
    monkeypatch.setattr(streams, "MAX_CONTROL", 10)
    pipe = redis.pipeline(transaction=False)
    for number in range(300):
        pipe.xadd(CONTROL, {"jobId": number, "action": "cancel"})
    pipe.execute()
    tools.listen(redis).sweep(healthy_seconds=0)
    assert redis.xlen(CONTROL) < 300
    assert redis.xrevrange(CONTROL, count=1)[0][1][b"jobId"] == b"299"


def test_a_silent_running_export_stalls_and_a_queued_one_waits(redis, minji) -> None:
    silent, recent, queued = (tools.export_of(minji) for _ in range(3))
    worker, listener = tools.ForeignWorker(redis), tools.listen(redis)
    worker.progress(silent, 10)
    worker.progress(recent, 10)
    tools.drain(listener)
    long_ago = timezone.now() - timedelta(seconds=61)
    ExportJob.objects.update(heard_at=long_ago, created_at=long_ago)
    worker.progress(recent, 5)  # no progress, but a sign of life
    tools.drain(listener)
    for kind in JobType:
        assert lifecycle.fail_stalled(timezone.now(), timedelta(seconds=60), kind) == (kind == JobType.MP4)
    assert (after(silent).status, after(silent).error_code) == (Status.FAILED, ErrorCode.STALLED)
    assert after(recent).status == Status.RUNNING
    assert after(queued).status == Status.QUEUED


def test_each_type_has_a_stall_limit_of_its_own(redis, minji, settings) -> None:
    settings.DURE_EXPORT_STALL_SECONDS_BY_TYPE = {"MP4": 600.0, "THUMBNAIL": 30.0}
    video, picture = tools.export_of(minji), tools.export_of(minji, JobType.THUMBNAIL)
    worker, listener = tools.ForeignWorker(redis), tools.listen(redis)
    for job in (video, picture):
        worker.progress(job, 10)
    tools.drain(listener)
    ExportJob.objects.update(heard_at=timezone.now() - timedelta(seconds=60))
    listener.sweep(healthy_seconds=120)
    assert (after(video).status, after(picture).status) == (Status.RUNNING, Status.FAILED)


def test_a_listener_that_was_down_fails_no_export(redis, minji) -> None:
    job = tools.export_of(minji)
    listener = tools.listen(redis)
    tools.ForeignWorker(redis).progress(job, 10)
    tools.drain(listener)
    ExportJob.objects.update(heard_at=timezone.now() - timedelta(hours=1))
    listener.sweep(healthy_seconds=5)
    assert after(job).status == Status.RUNNING
    listener.sweep(healthy_seconds=61)
    assert after(job).status == Status.FAILED


@pytest.mark.parametrize(
    ("failure_type", "error", "code"),
    [
        ("invalid_args", "BAD_REPLAY: Line 3 is not JSON.", "BAD_REPLAY"),
        ("invalid_args", "DISK_FULL: No space.", "DISK_FULL"),
        ("timeout", "Job execution timed out", "TIMEOUT"),
        ("poison", "Its worker died 3 times", "WORKER_LOST"),
        ("error", "ZeroDivisionError: x\ny", "RENDER_FAILED"),
    ],
)
def test_the_end_of_our_own_run_is_sent_as_a_result_with_its_code(
    redis, minji, failure_type, error, code
) -> None:
    job = tools.export_of(minji)
    listener = tools.listen(redis, worker=True)
    tools.drain(listener)
    claim(Execution.objects.get()).fail(failure_type, error)
    tools.drain(listener)
    export = after(job)
    assert (export.status, export.error_code) == (Status.FAILED, code)
    assert export.error_message and "\n" not in export.error_message


def test_a_result_lost_with_redis_is_sent_again(redis, minji) -> None:
    job = tools.export_of(minji)
    listener = tools.listen(redis, worker=True)
    tools.drain(listener)
    claim(Execution.objects.get()).fail("timeout", "x")
    outbox.send_once(redis)
    redis.delete(*tools.ALL)
    ended = Execution.objects.get().finished_at
    assert ended is not None
    assert reports.report_missing_results(ended + timedelta(seconds=9)) == 0
    assert reports.report_missing_results(ended + timedelta(seconds=11)) == 1
    assert reports.report_missing_results(ended + timedelta(seconds=11)) == 0
    tools.drain(listener)
    tools.drain(listener)
    assert after(job).status == Status.FAILED
