"""Progress and results on their streams: each message takes effect once, on its own export."""

import hashlib
import random

import pytest
from django.test import Client

from exports import messages, streams
from exports.failures import text
from exports.messages import PROGRESS, RESULTS
from exports.models import DeadLetter, ExportEvent
from exports.states import ErrorCode, Status
from jobs.models import Execution
from jobs.states import ExecutionStatus
from tests.factories import claimed_start
from tests.integration import export_tools as tools
from tests.integration.exports.outcomes import after

pytestmark = pytest.mark.django_db
SUM = "ab" * 32


def test_a_foreign_worker_completes_an_export(redis, minji) -> None:
    job, worker = tools.export_of(minji), tools.ForeignWorker(redis)
    listener = tools.listen(redis)
    worker.progress(job, 10)
    worker.progress(job, 60)
    tools.drain(listener)
    assert (after(job).status, after(job).progress) == (Status.RUNNING, 60)
    worker.deliver(job)
    tools.drain(listener)
    done = after(job)
    assert (done.status, done.progress, done.result_size) == (Status.SUCCEEDED, 100, 4)
    assert done.started_at and done.ended_at
    types = ExportEvent.objects.filter(owner=minji).order_by("id").values_list("type", flat=True)
    assert list(types) == ["job.progress", "job.progress", "job.completed"]


def test_the_result_of_a_foreign_worker_ends_our_own_run(redis, minji) -> None:
    job, worker = tools.export_of(minji), tools.ForeignWorker(redis)
    listener = tools.listen(redis, worker=True)
    tools.drain(listener)
    run = after(job).execution_id
    assert run
    worker.deliver(job)
    tools.drain(listener)
    assert after(job).status == Status.SUCCEEDED
    assert Execution.objects.get(pk=run).status == ExecutionStatus.CANCELLED


def test_the_result_of_a_foreign_worker_stops_our_own_run_that_has_begun(redis, minji) -> None:
    job, worker = tools.export_of(minji), tools.ForeignWorker(redis)
    listener = tools.listen(redis, worker=True)
    tools.drain(listener)
    run = claimed_start(after(job).execution_id)
    assert run is not None
    worker.result(job, "FAILED", errorCode="RENDER_FAILED", errorMessage="It broke.")
    tools.drain(listener)
    assert Execution.objects.get(pk=run.execution).cancel_requested_at is not None
    run.finish()
    tools.drain(listener)
    assert Execution.objects.get(pk=run.execution).status == ExecutionStatus.CANCELLED
    assert after(job).status == Status.FAILED


def test_a_file_that_lacks_something_says_so(redis, client, minji) -> None:
    job, worker = tools.export_of(minji), tools.ForeignWorker(redis)
    note = text("sound_unreadable")
    path = worker.deliver(job)
    redis.delete(RESULTS)
    worker.result(
        job,
        "SUCCEEDED",
        resultUri=str(path),
        checksum=hashlib.sha256(path.read_bytes()).hexdigest(),
        errorMessage=note,
    )
    tools.drain(tools.listen(redis))
    answer = client.get(f"/api/jobs/{job.pk}").json()
    assert (answer["status"], answer["message"], answer["errorMessage"]) == ("SUCCEEDED", note, None)
    for language, words in (("en", note), ("ko", "동영상의 소리를 읽을 수 없으므로")):
        page = Client(headers={"Accept-Language": language})
        page.force_login(minji)
        assert words in page.get(f"/exports/{job.pk}").content.decode()


def test_a_message_sent_before_the_group_exists_is_read(redis, minji) -> None:
    job = tools.export_of(minji)
    tools.ForeignWorker(redis).progress(job, 10)
    tools.drain(tools.listen(redis))
    assert after(job).progress == 10


def test_an_ended_export_does_not_change(redis, minji) -> None:
    job, worker = tools.export_of(minji), tools.ForeignWorker(redis)
    listener = tools.listen(redis)
    worker.result(job, "FAILED", errorCode="GPU_BURNT", errorMessage="Buy another.")
    tools.drain(listener)
    worker.progress(job, 99)
    worker.deliver(job)
    worker.result(job, "CANCELLED")
    tools.drain(listener)
    export = after(job)
    assert (export.status, export.error_code, export.error_message) == ("FAILED", "GPU_BURNT", "Buy another.")
    assert ExportEvent.objects.filter(job_id=job.pk).count() == 1
    assert not DeadLetter.objects.exists()


def test_shuffled_and_repeated_progress_is_applied_once(redis, minji) -> None:
    jobs = [tools.export_of(minji) for _ in range(20)]
    sent = [messages.Progress(job.pk, n % 100, "RENDERING") for job in jobs for n in range(500)] * 3
    random.Random(7).shuffle(sent)
    pipe = redis.pipeline(transaction=False)
    for message in sent:
        pipe.xadd(PROGRESS, message.fields())
    pipe.execute()
    listener = tools.listen(redis)
    tools.drain(listener)
    assert {after(job).progress for job in jobs} == {99}
    assert {after(job).status for job in jobs} == {Status.RUNNING}
    for job in jobs:
        seen = [e.data["progress"] for e in ExportEvent.objects.filter(job_id=job.pk).order_by("id")]
        assert seen == sorted(set(seen)) and seen[-1] == 99
    assert redis.xpending(PROGRESS, streams.BACKEND)["pending"] == 0


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("/etc/passwd", ErrorCode.INVALID_OUTPUT_PATH),
        ("{root}-evil/1/2/a.mp4", ErrorCode.INVALID_OUTPUT_PATH),
        ("{root}/../a.mp4", ErrorCode.INVALID_OUTPUT_PATH),
        ("{root}/%2e%2e/a.mp4", ErrorCode.INVALID_OUTPUT_PATH),
        ("{root}/{other}", ErrorCode.INVALID_OUTPUT_PATH),
        ("{root}/{owner}/{job}/link.mp4", ErrorCode.INVALID_OUTPUT_PATH),
        ("{root}/{owner}/{job}/none.mp4", ErrorCode.OUTPUT_MISSING),
    ],
)
def test_a_result_outside_the_jobs_folder_fails_it_and_is_dead_lettered(
    redis, minji, settings, place, code
) -> None:
    job, other = tools.export_of(minji), tools.export_of(minji)
    worker = tools.ForeignWorker(redis)
    theirs = worker.deliver(other)
    redis.delete(RESULTS)
    own = settings.DURE_EXPORT_PATH.joinpath(*job.folder)
    own.mkdir(parents=True)
    (own / "link.mp4").symlink_to("/etc/passwd")
    uri = place.format(
        root=settings.DURE_EXPORT_PATH,
        other=theirs.relative_to(settings.DURE_EXPORT_PATH),
        owner=minji.pk,
        job=job.pk,
    )
    worker.result(job, "SUCCEEDED", resultUri=uri, checksum=SUM)
    tools.drain(tools.listen(redis))
    assert (after(job).status, after(job).error_code) == (Status.FAILED, code)
    assert after(job).result_uri == ""
    assert DeadLetter.objects.get().reason.startswith(code)
    assert after(other).status == Status.QUEUED
