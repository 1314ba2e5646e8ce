"""What an export waits for, and when it is late: told alike in the list and on its own page."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from exports import lifecycle
from exports.models import ExportJob, StreamOutbox
from jobs import lifecycle as engine
from jobs import redis
from jobs.models import Execution, Worker
from tests.factories import Claimed
from tests.integration.pages.export_pages import export, running
from tests.integration.pages.readers import text

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folders")]


def said(client: Client, job: ExportJob) -> str:
    """What the page says of an export that waits; the same in the list and on its own page."""
    (one,) = [one for one in client.get("/exports").context["exports"] if one["job"].pk == job.pk]
    standing = client.get(f"/exports/{job.pk}").context["one"]["standing"]
    assert (one["standing"] and str(one["standing"].words)) == (standing and str(standing.words))
    return f"{'late: ' if standing.late else ''}{standing.words}" if standing else ""


def aged(seconds: float) -> None:
    StreamOutbox.objects.update(created_at=timezone.now() - timedelta(seconds=seconds))


def test_while_redis_or_the_listener_is_away_a_request_waits_to_be_sent(page, minji):
    job = export(minji)
    assert said(page, job) == "Is being sent to the workers."
    aged(90)
    assert said(page, job).startswith("late: Waits to be sent: Redis or the listener is away.")
    shown = text(page, "/exports")
    assert "Waits to be sent: Redis or the listener is away." in shown
    assert 'data-live="waits"' in shown


def test_what_was_sent_waits_for_a_worker_to_take_it(page, minji):
    job = export(minji)
    StreamOutbox.objects.all().delete()
    assert said(page, job) == "Was sent; no worker has taken it yet."
    ExportJob.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    assert said(page, job) == "late: Was sent; no worker has taken it yet."


@pytest.fixture
def taken(minji):
    """An export that our own worker side took, with its run of the engine."""
    job = export(minji)
    StreamOutbox.objects.all().delete()
    assert lifecycle.accept_request(lifecycle.request_message(job)) == ""
    job.refresh_from_db()
    return job


def test_what_was_taken_waits_for_a_free_worker_and_says_when_there_is_none(page, taken):
    assert said(page, taken) == "late: No worker that is alive makes exports: it waits for one."
    now = timezone.now()
    Worker.objects.create(name="w", roles=["FE", "export"], started_at=now, seen_at=now)
    assert said(page, taken) == "Waits for a worker that is free."
    Worker.objects.update(roles=["FE"])
    assert said(page, taken).startswith("late: No worker")
    claimed(taken)
    assert said(page, taken) == "A worker has begun; nothing has been heard from it yet."


def claimed(job: ExportJob) -> Claimed:
    assert job.execution_id is not None
    run = Execution.objects.get(pk=job.execution_id)
    row = engine.claim(str(run.pk), run.dispatch, token="t", worker="w@test")
    assert row is not None
    return Claimed(row)


def test_a_result_that_could_not_be_sent_is_not_taken_for_silence(page, taken):
    claimed(taken).fail(failure_type="invalid_args", error="BAD_REPLAY: no")
    assert said(page, taken) == "Its worker has ended; the result is being sent."
    aged(30)
    assert said(page, taken).startswith("late: Its worker has ended; the result waits to be sent")
    StreamOutbox.objects.all().delete()
    assert said(page, taken) == "Its worker has ended; the result is on its way."


def test_silence_is_told_before_and_after_it_should_have_ended_the_export(page, minji):
    assert said(page, running(minji, heard_seconds_ago=2)) == ""
    assert said(page, running(minji, heard_seconds_ago=25)) == "late: Nothing has been heard from its worker."
    longer = settings.DURE_EXPORT_STALL_SECONDS * 2 + 1
    assert "the listener that should have noticed" in said(page, running(minji, heard_seconds_ago=longer))


@pytest.fixture
def redis_away(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    redis.client.cache_clear()
    yield
    redis.client.cache_clear()


def test_with_redis_away_one_looks_asks_and_cancels_all_the_same(
    page, minji, redis_away, django_capture_on_commit_callbacks
):
    job = export(minji)
    for path in ("/exports", f"/exports/{job.pk}", f"/exports/parts?id={job.pk}", "/exports/replays"):
        assert page.get(path).status_code == 200
    with django_capture_on_commit_callbacks(execute=True):
        asked = page.post(f"/exports/replays/{job.replay_id}/mp4", follow=True)
        cancelled = page.post(f"/exports/{job.pk}/cancel", follow=True)
    assert "Is being sent to the workers." in asked.content.decode()
    assert "The export was cancelled." in cancelled.content.decode()
