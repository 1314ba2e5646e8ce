"""The streams: requests out once, messages in with one effect, bad ones kept, against a real Redis."""

import json
import random
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from redis.exceptions import ConnectionError as RedisAway

from exports import deadletters, leftovers, lifecycle, machine, messages, outbox, streams
from exports.listener import Listener
from exports.messages import DEADLETTER, PROGRESS, REQUESTS, RESULTS
from exports.models import DeadLetter, ExportEvent, ExportJob, StreamOutbox
from exports.states import TERMINAL, ErrorCode, JobType, Status
from jobs import lifecycle as engine
from jobs.errors import Conflict
from jobs.models import Execution
from tests.integration import export_tools as tools

pytestmark = pytest.mark.django_db
SUM = "ab" * 32


@pytest.fixture
def redis(settings, tmp_path):
    tools.roots(settings, tmp_path)
    settings.DURE_STREAM_CLAIM_SECONDS = 0.1
    redis = tools.empty_redis()
    yield redis
    redis.delete(*tools.ALL)
    redis.close()


@pytest.fixture
def minji():
    return tools.user()


def after(job: ExportJob) -> ExportJob:
    return ExportJob.objects.get(pk=job.pk)


def fail_the_run(failure_type: str, error: str) -> None:
    """As a worker of ours does it, without the process."""
    run = str(Execution.objects.get().pk)
    claimed = engine.claim(run, 1, token="t", worker="w")
    assert claimed is not None
    engine.finish(run, claimed["fence"], "failure", trigger="EXPORT", failure_type=failure_type, error=error)


# --- Requests ------------------------------------------------------------------------------------


def test_a_request_goes_out_once_with_the_fields_of_the_contract(redis, minji, settings) -> None:
    job = tools.export_of(minji)
    assert outbox.relay_once(redis) == 1
    assert outbox.relay_once(redis) == 0
    ((_, fields),) = redis.xrange(REQUESTS)
    options = json.loads(fields[b"options"])
    assert {name: fields[name] for name in (b"jobId", b"jobType", b"replayId")} == {
        b"jobId": str(job.pk).encode(),
        b"jobType": b"MP4",
        b"replayId": str(job.replay_id).encode(),
    }
    assert options["ownerId"] == minji.pk
    assert options["durationMs"] == 966
    assert options["inputPath"] == str(settings.DURE_REPLAY_PATH / job.replay.path)
    assert options["outputPath"].startswith(str(settings.DURE_EXPORT_PATH))
    assert options["createdAt"].endswith("+09:00")


def test_no_request_goes_out_for_an_export_that_was_rolled_back(redis, minji) -> None:
    replay = tools.replay_of(minji)
    with pytest.raises(RuntimeError), transaction.atomic():
        lifecycle.request(replay, JobType.MP4, timezone.now())
        raise RuntimeError
    assert outbox.relay_once(redis) == 0


def test_an_outage_of_redis_only_delays_a_request(redis, minji) -> None:
    tools.export_of(minji)
    away = streams.connect("redis://127.0.0.1:1/0")
    with pytest.raises(RedisAway):
        outbox.relay_once(away)
    assert outbox.relay_once(redis) == 1
    assert redis.xlen(REQUESTS) == 1


def test_a_sender_that_died_before_it_could_forget_does_not_double_the_message(redis, minji) -> None:
    tools.export_of(minji)
    row = StreamOutbox.objects.get()
    outbox.relay_once(redis)
    row.save(force_insert=True)
    assert outbox.relay_once(redis) == 1
    assert redis.xlen(REQUESTS) == 1


def test_our_worker_side_makes_one_execution_of_a_request_however_often_it_comes(redis, minji) -> None:
    job = tools.export_of(minji)
    listener = tools.listen(redis, worker=True)
    outbox.relay_once(redis)
    ((_, fields),) = redis.xrange(REQUESTS)
    for _ in range(3):
        redis.xadd(REQUESTS, fields)
    tools.drain(listener)
    execution = Execution.objects.get(source=str(job.pk))
    assert (execution.trigger, execution.role, execution.args) == ("EXPORT", "export", {"job_id": job.pk})
    assert after(job).execution_id == execution.pk
    assert not DeadLetter.objects.exists()


@pytest.mark.parametrize(
    "changed",
    [{"inputPath": "/etc/passwd"}, {"outputPath": "/elsewhere/x.mp4"}, {"ownerId": 999}, {"durationMs": 1}],
)
def test_a_forged_request_is_buried_and_starts_nothing(redis, minji, changed) -> None:
    listener = tools.listen(redis, worker=True)
    job = tools.export_of(minji)
    StreamOutbox.objects.all().delete()
    fields = lifecycle.request_message(job).fields()
    fields["options"] = json.dumps(json.loads(fields["options"]) | changed)
    redis.xadd(REQUESTS, fields)
    tools.drain(listener)
    assert after(job).execution_id is None
    assert DeadLetter.objects.get().reason == "the request does not say what the job says"


def test_after_redis_lost_its_data_what_nobody_took_is_asked_for_again(redis, minji) -> None:
    first, taken = tools.export_of(minji), tools.export_of(minji)
    listener = tools.listen(redis, worker=False)
    tools.drain(listener)
    ExportJob.objects.filter(pk=taken.pk).update(execution_id="0199c0de-0000-7000-8000-000000000000")
    redis.delete(*tools.ALL)
    tools.drain(listener)
    tools.drain(listener)
    assert [int(fields[b"jobId"]) for _, fields in redis.xrange(REQUESTS)] == [first.pk]


# --- Progress and results ------------------------------------------------------------------------


def test_a_foreign_worker_takes_an_export_from_queued_to_succeeded(redis, minji) -> None:
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


def test_a_message_on_an_empty_redis_is_not_missed(redis, minji) -> None:
    job = tools.export_of(minji)
    tools.ForeignWorker(redis).progress(job, 10)
    tools.drain(tools.listen(redis))
    assert after(job).progress == 10


def test_nothing_changes_an_export_that_has_ended(redis, minji) -> None:
    job, worker = tools.export_of(minji), tools.ForeignWorker(redis)
    listener = tools.listen(redis)
    worker.result(job, "FAILED", errorCode="GPU_BURNT", errorMessage="Buy another.")
    tools.drain(listener)
    worker.progress(job, 99)
    worker.deliver(job)
    worker.result(job, "CANCELLED")
    tools.drain(listener)
    found = after(job)
    assert (found.status, found.error_code, found.error_message) == ("FAILED", "GPU_BURNT", "Buy another.")
    assert ExportEvent.objects.filter(job_id=job.pk).count() == 1
    assert not DeadLetter.objects.exists()


def test_ten_thousand_progress_messages_three_times_out_of_order_have_one_effect_each(redis, minji) -> None:
    jobs = [tools.export_of(minji) for _ in range(20)]
    said = [messages.Progress(job.pk, n % 100, "RENDERING") for job in jobs for n in range(500)] * 3
    random.Random(7).shuffle(said)
    pipe = redis.pipeline(transaction=False)
    for message in said:
        pipe.xadd(PROGRESS, message.fields())
    pipe.execute()
    listener = tools.listen(redis)
    began = timezone.now()
    tools.drain(listener)
    rate = len(said) / (timezone.now() - began).total_seconds()
    assert {after(job).progress for job in jobs} == {99}
    assert {after(job).status for job in jobs} == {Status.RUNNING}
    for job in jobs:
        seen = [e.data["progress"] for e in ExportEvent.objects.filter(job_id=job.pk).order_by("id")]
        assert seen == sorted(set(seen)) and seen[-1] == 99
    assert redis.xpending(PROGRESS, streams.BACKEND)["pending"] == 0
    assert rate > 2_000


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
def test_a_result_that_is_not_the_jobs_own_file_fails_it_and_is_kept(
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


def test_events_of_an_owner_never_show_up_with_another(redis, minji) -> None:
    jisoo = tools.user("jisoo")
    mine, theirs = tools.export_of(minji), tools.export_of(jisoo)
    worker = tools.ForeignWorker(redis)
    worker.progress(mine, 10)
    worker.progress(theirs, 20)
    tools.drain(tools.listen(redis))
    assert [event.job_id for event in ExportEvent.objects.filter(owner=minji)] == [mine.pk]


# --- Dead letters --------------------------------------------------------------------------------


def test_a_bad_message_is_kept_told_to_the_stream_and_acknowledged(redis, minji) -> None:
    own_id = redis.xadd(PROGRESS, {"jobId": "zero", "progress": "1"}).decode()
    tools.drain(tools.listen(redis))
    letter = DeadLetter.objects.get()
    assert (letter.source_stream, letter.source_id, letter.whole) == (PROGRESS, own_id, True)
    ((_, fields),) = redis.xrange(DEADLETTER)
    assert fields[b"jobId"] == b"zero" and fields[b"sourceId"].decode() == own_id
    assert fields[b"sourceStream"] == PROGRESS.encode()
    assert b"jobId must be" in fields[b"reason"] and fields[b"failedAt"]
    assert redis.xpending(PROGRESS, streams.BACKEND)["pending"] == 0


def test_a_message_about_a_job_that_does_not_exist_is_kept(redis) -> None:
    redis.xadd(PROGRESS, messages.Progress(2**62, 10).fields())
    tools.drain(tools.listen(redis))
    assert DeadLetter.objects.get().reason == "there is no such job"


def test_a_message_delivered_twice_dies_once(redis) -> None:
    own_id = redis.xadd(RESULTS, {"jobId": "1"})
    listener = tools.listen(redis)
    entry = streams.Entry(RESULTS, own_id.decode(), {b"jobId": b"1"})
    listener.work([entry])
    listener.work([entry])
    assert DeadLetter.objects.count() == 1
    assert StreamOutbox.objects.filter(stream=DEADLETTER).count() == 1


def test_an_operator_sends_a_dead_letter_again_and_it_has_its_effect(redis, minji) -> None:
    staff = tools.user("ops", is_staff=True)
    job = tools.export_of(minji)
    ExportJob.objects.filter(pk=job.pk).update(id=job.pk + 1_000_000)
    redis.xadd(PROGRESS, messages.Progress(job.pk, 40).fields())
    listener = tools.listen(redis)
    tools.drain(listener)
    letter = DeadLetter.objects.get()
    ExportJob.objects.filter(pk=job.pk + 1_000_000).update(id=job.pk)
    deadletters.republish(letter.pk, staff, timezone.now())
    tools.drain(listener)
    assert after(job).progress == 40
    for verb in (deadletters.republish, deadletters.discard):
        with pytest.raises(Conflict):
            verb(letter.pk, staff, timezone.now())


def test_a_message_that_was_cut_cannot_be_sent_again_and_can_be_discarded(redis) -> None:
    staff = tools.user("ops", is_staff=True)
    redis.xadd(PROGRESS, {"jobId": "1", "progress": "1", "message": "x" * 5_000})
    tools.drain(tools.listen(redis))
    letter = DeadLetter.objects.get()
    with pytest.raises(Conflict):
        deadletters.republish(letter.pk, staff, timezone.now())
    assert deadletters.discard(letter.pk, staff, timezone.now()).handled_by == staff


# --- Listeners come and go -----------------------------------------------------------------------


def test_what_a_dead_listener_took_is_taken_over_by_another(redis, minji) -> None:
    job = tools.export_of(minji)
    tools.listen(redis, "dead")
    tools.ForeignWorker(redis).progress(job, 30)
    assert len(streams.read(redis, "dead", [PROGRESS, RESULTS], 10, None)) == 1
    other = tools.listen(redis, "other")
    tools.drain(other)
    assert after(job).progress == 0
    deadline = timezone.now() + timedelta(seconds=5)
    while not other.take_over() and timezone.now() < deadline:
        pass
    assert after(job).progress == 30
    assert redis.xpending(PROGRESS, streams.BACKEND)["pending"] == 0


def test_a_message_that_is_handed_out_too_often_is_buried(redis, minji, settings) -> None:
    settings.DURE_STREAM_CLAIM_SECONDS = 0.0
    listener = tools.listen(redis)
    tools.ForeignWorker(redis).progress(tools.export_of(minji), 30)
    streams.read(redis, "a", [PROGRESS], 10, None)
    for name in "bcdef":
        assert len(streams.take_over(redis, name, PROGRESS, 0, 10)) == 1
    listener.take_over()
    assert "handed out 5 times" in DeadLetter.objects.get().reason
    assert redis.xpending(PROGRESS, streams.BACKEND)["pending"] == 0


def test_one_message_that_cannot_be_stored_does_not_take_its_neighbours_along(
    redis, minji, monkeypatch
) -> None:
    good, bad = tools.export_of(minji), tools.export_of(minji)
    worker, real = tools.ForeignWorker(redis), machine.advance

    def broken(state, message):
        if message.job_id == bad.pk:
            raise ZeroDivisionError
        return real(state, message)

    monkeypatch.setattr(lifecycle, "advance", broken)
    worker.progress(good, 10)
    worker.progress(bad, 10)
    worker.progress(good, 20)
    tools.drain(tools.listen(redis))
    assert after(good).progress == 20
    assert "could not be applied" in DeadLetter.objects.get().reason


def test_streams_are_trimmed_only_below_what_every_group_has_acknowledged(redis, minji) -> None:
    job = tools.export_of(minji)
    listener = tools.listen(redis)
    for percent in range(10):
        tools.ForeignWorker(redis).progress(job, percent)
    redis.xgroup_create(PROGRESS, "somebody-else", id="0")
    tools.drain(listener)
    assert streams.trim(redis, PROGRESS) == 0
    ((_, ones),) = (
        redis.xreadgroup("somebody-else", "x", {PROGRESS: ">"}, count=6).items()
        if isinstance(redis.xinfo_groups(PROGRESS), dict)
        else redis.xreadgroup("somebody-else", "x", {PROGRESS: ">"}, count=6)
    )
    ids = [one[0] for one in ones]
    redis.xack(PROGRESS, "somebody-else", *ids[:3])
    assert streams.trim(redis, PROGRESS) == 3
    assert redis.xrange(PROGRESS)[0][0] == ids[3]
    assert streams.trim(redis, DEADLETTER) == 0


# --- Ends that no worker reported ----------------------------------------------------------------


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
    assert leftovers.sweep_once(timezone.now(), min_age=timedelta()) == 1
    assert not path.exists()


def test_a_cancel_cancels_the_execution(redis, minji) -> None:
    job = tools.export_of(minji)
    tools.drain(tools.listen(redis, worker=True))
    lifecycle.cancel(job.pk, timezone.now())
    assert Execution.objects.get().status == "CANCELLED"


def test_a_running_export_that_nobody_speaks_of_stalls_and_a_queued_one_waits(redis, minji) -> None:
    silent, heard, queued = (tools.export_of(minji) for _ in range(3))
    worker, listener = tools.ForeignWorker(redis), tools.listen(redis)
    worker.progress(silent, 10)
    worker.progress(heard, 10)
    tools.drain(listener)
    long_ago = timezone.now() - timedelta(seconds=61)
    ExportJob.objects.update(heard_at=long_ago, created_at=long_ago)
    worker.progress(heard, 5)  # nothing new, but a sign of life
    tools.drain(listener)
    assert lifecycle.stall(timezone.now(), timedelta(seconds=60)) == 1
    assert (after(silent).status, after(silent).error_code) == (Status.FAILED, ErrorCode.STALLED)
    assert after(heard).status == Status.RUNNING
    assert after(queued).status == Status.QUEUED


def test_a_listener_that_was_deaf_itself_stalls_nobody(redis, minji) -> None:
    job = tools.export_of(minji)
    listener = tools.listen(redis)
    tools.ForeignWorker(redis).progress(job, 10)
    tools.drain(listener)
    ExportJob.objects.update(heard_at=timezone.now() - timedelta(hours=1))
    listener.sweep(healthy_for=5)
    assert after(job).status == Status.RUNNING
    listener.sweep(healthy_for=61)
    assert after(job).status == Status.FAILED


@pytest.mark.parametrize(
    ("failure_type", "error", "code"),
    [
        ("invalid_args", "BAD_REPLAY: Line 3 is not JSON.", "BAD_REPLAY"),
        ("invalid_args", "DISK_FULL: No space.", "DISK_FULL"),
        ("timeout", "Job execution timed out.", "TIMEOUT"),
        ("poison", "Its worker died 3 times", "WORKER_LOST"),
        ("error", "ZeroDivisionError: x\ny", "RENDER_FAILED"),
    ],
)
def test_the_end_of_our_own_run_goes_out_as_a_result_with_a_stable_code(
    redis, minji, failure_type, error, code
) -> None:
    job = tools.export_of(minji)
    listener = tools.listen(redis, worker=True)
    tools.drain(listener)
    fail_the_run(failure_type, error)
    tools.drain(listener)
    found = after(job)
    assert (found.status, found.error_code) == (Status.FAILED, code)
    assert found.error_message and "\n" not in found.error_message


def test_a_result_that_was_lost_with_redis_is_reported_again(redis, minji) -> None:
    job = tools.export_of(minji)
    listener = tools.listen(redis, worker=True)
    tools.drain(listener)
    fail_the_run("timeout", "x")
    outbox.relay_once(redis)
    redis.delete(*tools.ALL)
    assert lifecycle.reconcile(timezone.now()) == 0
    assert lifecycle.reconcile(timezone.now() + timedelta(seconds=11)) == 1
    assert lifecycle.reconcile(timezone.now() + timedelta(seconds=11)) == 0
    tools.drain(listener)
    tools.drain(listener)
    assert after(job).status == Status.FAILED


# --- The database's own guards -------------------------------------------------------------------


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_the_database_lets_nothing_leave_a_terminal_status(minji, settings, tmp_path, status) -> None:
    tools.roots(settings, tmp_path)
    job = tools.export_of(minji)
    extra = {"result_uri": "a", "result_checksum": SUM, "result_size": 1} if status == "SUCCEEDED" else {}
    ExportJob.objects.filter(pk=job.pk).update(status=status, ended_at=timezone.now(), **extra)
    with pytest.raises(IntegrityError, match="cannot become"), transaction.atomic():
        ExportJob.objects.filter(pk=job.pk).update(status="RUNNING", ended_at=None)


@pytest.mark.parametrize(
    ("changed", "constraint"),
    [
        ({"status": "DONE"}, "export_(status_known|ended_iff_ended_at)"),
        ({"job_type": "GIF"}, "export_type_known"),
        ({"progress": 101}, "export_progress_is_a_percentage"),
        ({"status": "FAILED"}, "export_ended_iff_ended_at"),
        ({"result_uri": "a/b.mp4"}, "export_result_iff_succeeded"),
        ({"status": "SUCCEEDED", "ended_at": "2026-01-01T00:00:00Z"}, "export_result_iff_succeeded"),
    ],
)
def test_each_rule_of_an_export_is_a_constraint(minji, settings, tmp_path, changed, constraint) -> None:
    tools.roots(settings, tmp_path)
    job = tools.export_of(minji)
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        ExportJob.objects.filter(pk=job.pk).update(**changed)


def test_the_database_lets_no_progress_go_back(minji, settings, tmp_path) -> None:
    tools.roots(settings, tmp_path)
    job = tools.export_of(minji)
    ExportJob.objects.filter(pk=job.pk).update(progress=50)
    with pytest.raises(IntegrityError), transaction.atomic():
        ExportJob.objects.filter(pk=job.pk).update(progress=49)


def test_two_listeners_share_the_messages(redis, minji) -> None:
    jobs = [tools.export_of(minji) for _ in range(4)]
    one, two = tools.listen(redis, "one"), Listener(redis, "two", False)
    for percent in range(1, 50):
        for job in jobs:
            tools.ForeignWorker(redis).progress(job, percent)
    while one.turn(None) + two.turn(None):
        pass
    assert {after(job).progress for job in jobs} == {49}
