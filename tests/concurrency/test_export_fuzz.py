"""Hostile messages neither stop the listener nor change a job of another owner, and none is lost."""

import json
import random
from typing import Any

import pytest

from exports import lifecycle, streams
from exports.messages import PROGRESS, REQUESTS, RESULTS
from exports.models import DeadLetter, ExportEvent, ExportJob
from exports.states import Status
from jobs.models import Execution
from tests.integration import export_tools as tools

pytestmark = pytest.mark.django_db
MANY = 1_500
SUM = "ab" * 32


@pytest.fixture
def redis(settings, tmp_path):
    tools.roots(settings, tmp_path)
    redis = tools.empty_redis()
    yield redis
    redis.delete(*tools.ALL)
    redis.close()


def junk(chance: random.Random) -> Any:
    return chance.choice(
        [
            "",
            "0x0",
            "-1",
            "1e9",
            "NaN",
            "null",
            "true",
            "9" * 19,
            "9" * 3_000,
            "x" * chance.choice([10, 1_001, 70_000]),
            "\x00",
            "\x1b[2J",
            "line\nline",
            b"\xff\xfe\x00",
            b"\xed\xa0\x80",
            "٣",
            "' OR 1=1 --",
            "{}",
            "[" * 5_000,
            '{"inputPath": "/etc/passwd"}',
            "../../etc/passwd",
            "/proc/self/environ",
            "RUNNING",
            "%s%n",
        ]
    )


def broken(chance: random.Random, fields: dict[str, Any]) -> dict[Any, Any]:
    """The message with one to three errors: a value, a name, an extra or a missing field."""
    made: dict[Any, Any] = dict(fields)
    for _ in range(chance.randint(1, 3)):
        match chance.randrange(4):
            case 0 | 1:
                made[chance.choice(sorted(fields))] = junk(chance)
            case 2:
                made.pop(chance.choice(sorted(fields)), None)
            case 3:
                made |= {junk(chance) or "f": junk(chance) for _ in range(chance.choice([1, 30]))}
    return made or {"": ""}


def test_malformed_messages_change_no_job_and_are_all_dead_lettered(redis, settings) -> None:
    minji = tools.user()
    listener = tools.listen(redis, worker=True)
    victim, witness = tools.export_of(minji), tools.export_of(minji)
    tools.drain(listener)
    worker = tools.ForeignWorker(redis)
    worker.progress(witness, 40)
    tools.drain(listener)
    before = ExportJob.objects.filter(pk=victim.pk).values().get()
    executions = set(Execution.objects.values_list("pk", flat=True))
    chance = random.Random(2026)
    good = {
        REQUESTS: lifecycle.request_message(victim).fields(),
        PROGRESS: {"jobId": str(victim.pk), "progress": "101", "phase": "RENDERING", "message": ""},
        RESULTS: {"jobId": str(victim.pk), "status": "DONE", "resultUri": "/e/a", "checksum": SUM},
    }
    sent: dict[str, set[str]] = {stream: set() for stream in good}
    pipe = redis.pipeline(transaction=False)
    where = [chance.choice(list(good)) for _ in range(MANY)]
    for stream in where:
        pipe.xadd(stream, broken(chance, good[stream]))
    for stream, own_id in zip(where, pipe.execute(), strict=True):
        sent[stream].add(own_id.decode())
    tools.drain(listener)

    after = ExportJob.objects.filter(pk=victim.pk).values().get()
    assert after == before
    assert ExportJob.objects.get(pk=witness.pk).progress == 40
    assert set(Execution.objects.values_list("pk", flat=True)) == executions
    assert not ExportEvent.objects.filter(job_id=victim.pk).exists()
    for stream, ids in sent.items():
        kept = set(DeadLetter.objects.filter(source_stream=stream).values_list("source_id", flat=True))
        harmless = ids - kept
        # A request may be damaged where nothing reads; then it repeats the first one, without effect.
        assert len(harmless) < len(ids) // 3 if stream == REQUESTS else not harmless
        assert redis.xpending(stream, streams.GROUPS[stream])["pending"] == 0
    assert redis.xlen("job.deadletter") == DeadLetter.objects.count()
    for letter in DeadLetter.objects.all()[:200]:
        assert letter.reason
        assert len(json.dumps(letter.fields)) < 16 * 5_000 * 6

    worker.progress(victim, 50)
    tools.drain(listener)
    assert ExportJob.objects.get(pk=victim.pk).progress == 50


def test_messages_about_unknown_and_ended_jobs_change_nothing(redis) -> None:
    minji = tools.user()
    listener, worker = tools.listen(redis), tools.ForeignWorker(redis)
    ended, live = tools.export_of(minji), tools.export_of(minji)
    path = worker.deliver(ended)
    tools.drain(listener)
    old = redis.xrange(RESULTS)[0][1]
    before = ExportJob.objects.filter(pk=ended.pk).values().get()
    for _ in range(50):
        redis.xadd(RESULTS, old)
        worker.progress(ended, 1)
        worker.result(ended, "FAILED", errorCode="X")
        worker.result(ended, "SUCCEEDED", resultUri="/etc/passwd", checksum=SUM)
        worker.result(live, "SUCCEEDED", resultUri=str(path), checksum=SUM)
    tools.drain(listener)
    assert ExportJob.objects.filter(pk=ended.pk).values().get() == before
    assert ExportJob.objects.get(pk=live.pk).status == Status.FAILED
    assert ExportEvent.objects.filter(job_id=live.pk).count() == 1
    assert path.exists()
