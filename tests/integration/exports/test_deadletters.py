"""Dead letters of the streams: stored once, then republished or discarded."""

import pytest
from django.utils import timezone

from exports import deadletters, messages, streams
from exports.messages import DEADLETTER, PROGRESS, RESULTS
from exports.models import DeadLetter, ExportJob, StreamOutbox
from jobs.errors import Conflict
from tests.integration import export_tools as tools
from tests.integration.exports.outcomes import after

pytestmark = pytest.mark.django_db


def test_a_bad_message_is_stored_sent_to_the_stream_and_acknowledged(redis, minji) -> None:
    own_id = redis.xadd(PROGRESS, {"jobId": "zero", "progress": "1"}).decode()
    tools.drain(tools.listen(redis))
    letter = DeadLetter.objects.get()
    assert (letter.source_stream, letter.source_id, letter.whole) == (PROGRESS, own_id, True)
    ((_, fields),) = redis.xrange(DEADLETTER)
    assert fields[b"jobId"] == b"zero" and fields[b"sourceId"].decode() == own_id
    assert fields[b"sourceStream"] == PROGRESS.encode()
    assert b"jobId must be" in fields[b"reason"] and fields[b"failedAt"].endswith(b"+09:00")
    assert redis.xpending(PROGRESS, streams.BACKEND)["pending"] == 0


def test_a_message_delivered_twice_is_dead_lettered_once(redis) -> None:
    own_id = redis.xadd(RESULTS, {"jobId": "1"})
    listener = tools.listen(redis)
    entry = streams.Entry(RESULTS, own_id.decode(), {b"jobId": b"1"})
    listener.process([entry])
    listener.process([entry])
    assert DeadLetter.objects.count() == 1
    assert StreamOutbox.objects.filter(stream=DEADLETTER).count() == 1


def test_a_message_about_an_unknown_job_takes_effect_when_it_is_republished(redis, minji) -> None:
    staff = tools.user("ops", is_staff=True)
    job = tools.export_of(minji)
    ExportJob.objects.filter(pk=job.pk).update(id=job.pk + 1_000_000)
    redis.xadd(PROGRESS, messages.Progress(job.pk, 40).fields())
    listener = tools.listen(redis)
    tools.drain(listener)
    letter = DeadLetter.objects.get()
    assert letter.reason == "there is no such job"
    ExportJob.objects.filter(pk=job.pk + 1_000_000).update(id=job.pk)
    deadletters.republish(letter.pk, staff, timezone.now())
    tools.drain(listener)
    assert after(job).progress == 40
    for verb in (deadletters.republish, deadletters.discard):
        with pytest.raises(Conflict):
            verb(letter.pk, staff, timezone.now())


def test_a_cut_message_cannot_be_republished_but_discarded(redis) -> None:
    staff = tools.user("ops", is_staff=True)
    redis.xadd(PROGRESS, {"jobId": "1", "progress": "1", "message": "x" * 5_000})
    tools.drain(tools.listen(redis))
    letter = DeadLetter.objects.get()
    with pytest.raises(Conflict):
        deadletters.republish(letter.pk, staff, timezone.now())
    assert deadletters.discard(letter.pk, staff, timezone.now()).handled_by == staff


def test_the_stream_keeps_its_last_messages_and_the_rows_keep_all(redis, settings) -> None:
    settings.DURE_DEAD_LETTER_STREAM_LENGTH = 100
    for number in range(700):
        redis.xadd(PROGRESS, {"jobId": f"zero {number}"})
    listener = tools.listen(redis)
    tools.drain(listener)
    assert redis.xlen(DEADLETTER) == 700
    listener.sweep(0)
    # Redis trims whole blocks of at most 100 messages.
    assert 100 <= redis.xlen(DEADLETTER) <= 200
    ((_, newest),) = redis.xrevrange(DEADLETTER, count=1)
    assert newest[b"jobId"] == b"zero 699"
    assert DeadLetter.objects.filter(state="open").count() == 700
