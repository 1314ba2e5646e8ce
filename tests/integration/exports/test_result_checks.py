"""The SHA-256 of a result is checked before its export succeeds, beside the listener's loop."""

import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from exports import files, lifecycle, result_checks, results, streams
from exports.messages import PROGRESS, RESULTS, Result
from exports.models import DeadLetter
from exports.states import ErrorCode, Status
from exports.streams import Entry
from jobs import lifecycle as engine
from jobs.models import Execution
from tests.integration import export_tools as tools
from tests.integration.exports.outcomes import after

pytestmark = pytest.mark.django_db
WRONG = "00" * 32


class Gate:
    """Holds the first check until it is opened."""

    def __init__(self, monkeypatch) -> None:
        self.opened, self.entered = threading.Event(), threading.Event()
        real = results.inspect

        def inspect(*args):
            self.entered.set()
            assert self.opened.wait(60)
            return real(*args)

        monkeypatch.setattr(result_checks, "inspect", inspect)


@pytest.fixture
def gate(monkeypatch):
    gate = Gate(monkeypatch)
    yield gate
    gate.opened.set()


def test_a_wrong_checksum_fails_the_export(redis, minji) -> None:
    job, worker = tools.export_of(minji), tools.ForeignWorker(redis)
    path = worker.deliver(job)
    redis.delete(RESULTS)
    worker.result(job, "SUCCEEDED", resultUri=str(path), checksum=WRONG)
    tools.drain(tools.listen(redis))
    failed = after(job)
    assert (failed.status, failed.error_code) == (Status.FAILED, ErrorCode.CHECKSUM_MISMATCH)
    assert (failed.result_uri, failed.result_checksum, failed.result_size) == ("", "", None)
    assert DeadLetter.objects.get().reason.startswith(ErrorCode.CHECKSUM_MISMATCH)
    worker.deliver(job)
    tools.drain(tools.listen(redis))
    assert after(job).status == Status.FAILED


def test_a_check_delays_no_other_message_and_keeps_the_order_of_results(redis, minji, gate) -> None:
    slow, quick, worker = tools.export_of(minji), tools.export_of(minji), tools.ForeignWorker(redis)
    listener = tools.listen(redis)
    worker.deliver(slow)
    worker.result(slow, "FAILED", errorCode="SECOND")
    worker.result(quick, "FAILED", errorCode="OTHER")
    worker.progress(quick, 30)
    listener.poll(None)
    assert gate.entered.wait(60)
    assert (after(quick).status, after(quick).error_code) == (Status.FAILED, "OTHER")
    assert after(slow).status == Status.QUEUED
    assert redis.xpending(RESULTS, streams.BACKEND)["pending"] == 2
    gate.opened.set()
    tools.drain(listener)
    assert (after(slow).status, after(slow).error_code) == (Status.SUCCEEDED, "")
    assert redis.xpending(RESULTS, streams.BACKEND)["pending"] == 0


def test_an_export_does_not_stall_while_its_result_is_checked(redis, minji, gate, settings) -> None:
    settings.DURE_STREAM_CLAIM_SECONDS = 0.0
    job, worker = tools.export_of(minji), tools.ForeignWorker(redis)
    listener = tools.listen(redis)
    worker.progress(job, 99)
    tools.drain(listener)
    worker.deliver(job)
    listener.poll(None)
    long_ago = timezone.now() - timedelta(hours=1)
    type(job).objects.filter(pk=job.pk).update(heard_at=long_ago)
    for _ in range(7):  # more sweeps than deliveries are allowed
        listener.sweep(healthy_seconds=1_000)
    assert after(job).status == Status.RUNNING
    gate.opened.set()
    tools.drain(listener)
    assert after(job).status == Status.SUCCEEDED
    assert not DeadLetter.objects.exists()


def test_another_listener_repeats_the_check_of_a_dead_one(redis, minji, gate, settings) -> None:
    settings.DURE_STREAM_CLAIM_SECONDS = 0.0
    job = tools.export_of(minji)
    dead = tools.listen(redis, "dead")
    tools.ForeignWorker(redis).deliver(job)
    dead.poll(None)
    assert gate.entered.wait(60)
    other = tools.listen(redis, "other")
    gate.opened.set()
    other.take_over()
    tools.drain(other)
    assert after(job).status == Status.SUCCEEDED
    dead.poll(None)  # it was only slow: its own check changes nothing
    assert after(job).status == Status.SUCCEEDED
    assert not DeadLetter.objects.exists()


def test_a_result_that_arrives_before_its_export_exists_is_dead_lettered(redis, minji) -> None:
    job, worker = tools.export_of(minji), tools.ForeignWorker(redis)
    path = worker.deliver(job)
    listener = tools.listen(redis)
    (entry,) = streams.read(redis, listener.name, [RESULTS], 10, None)
    job.delete()
    others = listener.checks.start([entry])
    job.save(force_insert=True)
    listener._commit(others, {})
    assert after(job).status == Status.QUEUED
    assert DeadLetter.objects.get().reason == lifecycle.NO_SUCH_JOB
    assert path.exists()


def test_a_file_that_our_own_run_hashed_is_not_read_again(minji, tmp_path) -> None:
    store, output = files.Store(tmp_path / "exports"), ("1", "2", "replay-3.mp4")
    (tmp_path / "film").write_bytes(b"film")
    with (tmp_path / "film").open("rb") as film:
        own_output = store.place(output, film)
    reads: list[int] = []

    def verdict(parts, expected):
        result = Result(2, Status.SUCCEEDED, "/".join(parts), expected.own_output.sha256)
        return results.inspect(store, result, expected, reads.append).error

    assert verdict(output, results.Expectation(output, own_output)) is None
    assert reads == []
    # Another file, or another size: the file is read.
    (store.root / "1/2/other.mp4").write_bytes(b"fake")
    code, _ = verdict(("1", "2", "other.mp4"), results.Expectation(output, own_output))
    assert (code, reads) == (ErrorCode.CHECKSUM_MISMATCH, [4])
    (store.root / "1/2/replay-3.mp4").write_bytes(b"longer")
    code, _ = verdict(output, results.Expectation(output, own_output))
    assert (code, reads) == (ErrorCode.CHECKSUM_MISMATCH, [4, 6])


def test_the_checksum_of_our_own_run_is_known(redis, minji) -> None:
    job = tools.export_of(minji)
    tools.drain(tools.listen(redis, worker=True))
    execution = after(job).execution_id
    assert execution
    assert result_checks.expected_results([job.pk])[job.pk].own_output is None
    Execution.objects.filter(pk=execution).update(
        status="SUCCESS",
        result={"resultUri": "x", "checksum": WRONG, "sizeBytes": 4},
        finished_at=timezone.now(),
    )
    expected = result_checks.expected_results([job.pk, 2**40])
    assert expected == {job.pk: results.Expectation(job.output, files.Placed(4, WRONG))}
    engine.cancel_execution(execution)


def test_progress_needs_no_check_even_with_the_id_of_a_result(redis, minji, gate) -> None:
    job = tools.export_of(minji)
    path = tools.ForeignWorker(redis).deliver(job)
    ((_, fields),) = redis.xrange(RESULTS)
    listener = tools.listen(redis)
    result, progress = Entry(RESULTS, "1-1", fields), Entry(PROGRESS, "1-1", {})
    assert listener.checks.start([progress, result]) == [progress]
    assert listener.checks.has(result) and not listener.checks.has(progress)
    assert listener.checks.start([progress, result]) == [progress]
    assert listener.checks.job_ids == {job.pk} and path.exists()
