"""Options of exports in the API and in the stream: size, rate, and a part of the replay."""

import json
from dataclasses import replace

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from exports import lifecycle
from exports.messages import REQUESTS
from exports.models import ExportJob, StreamOutbox
from exports.render.options import RenderOptions
from exports.states import JobType
from tests.integration import export_tools as tools
from tests.integration.exports.outcomes import after

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folders", "fresh_counts")]

OPTIONS = {"resolution": "360p", "fps": 20, "fromMs": 500, "toMs": 1_500, "sound": False}


def start(client, replay, body, kind="mp4"):
    return client.post(f"/api/replays/{replay.pk}/exports/{kind}", body, content_type="application/json")


def test_options_are_stored_shown_and_sent(client, minji) -> None:
    job_id = start(client, tools.replay_of(minji, 2), OPTIONS).json()["jobId"]
    export = client.get(f"/api/jobs/{job_id}").json()
    assert {name: export[name] for name in OPTIONS} == OPTIONS
    sent = json.loads(StreamOutbox.objects.get().fields["options"])
    assert {name: sent[name] for name in OPTIONS} == OPTIONS
    assert sent["durationMs"] == 1_966  # of the replay: a worker that ignores the options exports all of it


def test_a_body_without_options_is_the_request_as_ever(client, minji) -> None:
    start(client, tools.replay_of(minji), {})
    sent = json.loads(StreamOutbox.objects.get().fields["options"])
    assert set(sent) == {"inputPath", "outputPath", "durationMs", "ownerId", "createdAt"}


@pytest.mark.parametrize(
    ("kind", "body", "field"),
    [
        *[("mp4", {"resolution": value}, "resolution") for value in ("4k", "", None, 720, ["720p"])],
        *[("mp4", {"fps": value}, "fps") for value in (0, 61, -1, 29.5, "30", True, None)],
        *[("mp4", {"fromMs": value}, "fromMs") for value in (-1, 2_000, 10**18, "0", 0.5)],
        *[("webm", {"toMs": value}, "toMs") for value in (0, 2_001, "1", {})],
        ("mp4", {"fromMs": 500, "toMs": 500}, "toMs"),
        ("mp4", {"from": 1}, "from"),
        ("gif", {"fps": 26}, "fps"),
        ("thumbnail", {"fps": 10}, "fps"),
        *[("webm", {"sound": value}, "sound") for value in ("false", 0, None, [])],
        *[(kind, {"sound": True}, "sound") for kind in ("gif", "thumbnail")],
    ],
)
def test_bad_options_are_refused_and_write_nothing(client, minji, kind, body, field) -> None:
    answer = start(client, tools.replay_of(minji, 2), body, kind)
    assert (answer.status_code, set(answer.json()["errors"])) == (400, {field})
    assert not ExportJob.objects.exists() and not StreamOutbox.objects.exists()


def test_a_gif_of_more_than_a_minute_needs_a_part(client, minji) -> None:
    replay = tools.replay_of(minji, 62)
    answer = start(client, replay, {}, "gif")
    reason = "A GIF shows at most 60 s. Choose a shorter part of the replay."
    assert (answer.status_code, answer.json()["errors"]) == (400, {"toMs": [reason]})
    assert start(client, replay, {"fromMs": 1_000, "toMs": 61_000}, "gif").status_code == 202


def test_another_users_replay_is_404_whatever_the_options(client, db) -> None:
    replay = tools.replay_of(tools.user("outsider"))
    for body in ({}, OPTIONS, {"toMs": 3_600_000}):  # the replay is shorter
        assert start(client, replay, body).status_code == 404


def test_a_request_with_other_options_does_not_match_its_job(minji) -> None:
    replay = tools.replay_of(minji, 2)
    job = lifecycle.request(replay, JobType.MP4, timezone.now(), RenderOptions(fps=10))
    message = lifecycle.request_message(job)
    forged = replace(message, render=RenderOptions(fps=60))
    assert "does not match" in lifecycle.accept_request(forged)
    assert lifecycle.accept_request(message) == ""


def test_the_database_refuses_options_that_the_renderer_does_not_know(minji) -> None:
    job = tools.export_of(minji)
    for change in ("resolution = '9p'", "fps = 0", "fps = 61", "from_ms = 5, to_ms = 5", "to_ms = 0"):
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE jobs SET {change} WHERE job_id = %s", [job.pk])


@pytest.mark.django_db(transaction=True)
def test_a_request_that_redis_lost_is_sent_again_with_its_options(redis, minji) -> None:
    replay = tools.replay_of(minji, 2)
    job = lifecycle.request(replay, JobType.GIF, timezone.now(), RenderOptions("480p", 5, 0, 900))
    listener = tools.listen(redis)
    tools.drain(listener)
    redis.flushdb()
    tools.drain(listener)
    (_, fields) = redis.xrange(REQUESTS)[-1]
    sent = json.loads(fields[b"options"])
    assert [sent[name] for name in ("resolution", "fps", "fromMs", "toMs")] == ["480p", 5, 0, 900]
    assert after(job).status == "QUEUED"
