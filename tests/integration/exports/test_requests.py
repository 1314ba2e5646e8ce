"""Requests on their stream: each is sent once and starts one Execution."""

import json

import pytest
from django.db import transaction
from django.utils import timezone
from redis.exceptions import ConnectionError as RedisAway

from exports import lifecycle, outbox, streams
from exports.messages import REQUESTS
from exports.models import DeadLetter, ExportJob, StreamOutbox
from exports.states import JobType
from jobs.models import Execution
from tests.integration import export_tools as tools
from tests.integration.exports.outcomes import after

pytestmark = pytest.mark.django_db


def test_a_request_goes_out_once_with_the_fields_of_the_contract(redis, minji, settings) -> None:
    job = tools.export_of(minji)
    assert outbox.send_once(redis) == 1
    assert outbox.send_once(redis) == 0
    ((_, fields),) = redis.xrange(REQUESTS)
    options = json.loads(fields[b"options"])
    ids = (int(fields[b"jobId"]), int(fields[b"replayId"]))
    assert (fields[b"jobType"], *ids) == (b"MP4", job.pk, job.replay_id)
    assert options["ownerId"] == minji.pk
    assert options["durationMs"] == 966
    assert options["inputPath"] == str(settings.DURE_REPLAY_PATH / job.replay.path)
    assert options["outputPath"].startswith(str(settings.DURE_EXPORT_PATH))
    assert options["createdAt"].endswith("+09:00")


def test_a_rolled_back_export_sends_no_request(redis, minji) -> None:
    replay = tools.replay_of(minji)
    with pytest.raises(RuntimeError), transaction.atomic():
        lifecycle.request(replay, JobType.MP4, timezone.now())
        raise RuntimeError
    assert outbox.send_once(redis) == 0


def test_an_outage_of_redis_only_delays_a_request(redis, minji) -> None:
    tools.export_of(minji)
    away = streams.connect("redis://127.0.0.1:1/0")
    with pytest.raises(RedisAway):
        outbox.send_once(away)
    assert outbox.send_once(redis) == 1
    assert redis.xlen(REQUESTS) == 1


def test_a_sender_that_dies_before_it_deletes_the_row_sends_once(redis, minji) -> None:
    tools.export_of(minji)
    row = StreamOutbox.objects.get()
    outbox.send_once(redis)
    row.save(force_insert=True)
    assert outbox.send_once(redis) == 1
    assert redis.xlen(REQUESTS) == 1


def test_a_repeated_request_starts_one_execution(redis, minji) -> None:
    job = tools.export_of(minji)
    listener = tools.listen(redis, worker=True)
    outbox.send_once(redis)
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
def test_a_forged_request_is_dead_lettered_and_starts_nothing(redis, minji, changed) -> None:
    listener = tools.listen(redis, worker=True)
    job = tools.export_of(minji)
    StreamOutbox.objects.all().delete()
    fields = lifecycle.request_message(job).fields()
    fields["options"] = json.dumps(json.loads(fields["options"]) | changed)
    redis.xadd(REQUESTS, fields)
    tools.drain(listener)
    assert after(job).execution_id is None
    assert DeadLetter.objects.get().reason == "the request does not match the job"


def test_unaccepted_requests_are_republished_after_redis_lost_its_data(redis, minji) -> None:
    first, taken = tools.export_of(minji), tools.export_of(minji)
    listener = tools.listen(redis, worker=False)
    tools.drain(listener)
    ExportJob.objects.filter(pk=taken.pk).update(execution_id="0199c0de-0000-7000-8000-000000000000")
    redis.delete(*tools.ALL)
    tools.drain(listener)
    tools.drain(listener)
    assert [int(fields[b"jobId"]) for _, fields in redis.xrange(REQUESTS)] == [first.pk]
