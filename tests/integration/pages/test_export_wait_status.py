"""The wait status of an export: its reason, and when it is late."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from exports import lifecycle
from exports.models import ExportJob, StreamOutbox
from jobs import redis
from jobs.models import Execution, Worker
from tests.integration.pages.clients import page_text
from tests.integration.pages.export_pages import export, running
from tests.schedule_factories import claim

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folders", "long_send_limit")]


def wait_of(client: Client, job: ExportJob) -> str:
    """The wait status of an export, which is the same in the list and on its page."""
    (row,) = [row for row in client.get("/exports").context["exports"] if row.job.pk == job.pk]
    wait = client.get(f"/exports/{job.pk}").context["export"].wait
    assert (row.wait and str(row.wait.text)) == (wait and str(wait.text))
    return f"{'late: ' if wait.late else ''}{wait.text}" if wait else ""


def age_outbox(seconds: float) -> None:
    StreamOutbox.objects.update(created_at=timezone.now() - timedelta(seconds=seconds))


def test_a_request_waits_to_be_sent_while_redis_or_the_listener_is_down(page, minji):
    job = export(minji)
    assert wait_of(page, job) == "Being sent to the workers."
    age_outbox(90)
    assert wait_of(page, job).startswith("late: Waiting to be sent: Redis or the listener is down.")
    html = page_text(page, "/exports")
    assert "Waiting to be sent: Redis or the listener is down." in html
    assert 'data-live="waits"' in html


def test_a_sent_request_waits_for_a_worker(page, minji):
    job = export(minji)
    StreamOutbox.objects.all().delete()
    assert wait_of(page, job) == "Sent; not picked up by a worker yet."
    ExportJob.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    assert wait_of(page, job) == "late: Sent; not picked up by a worker yet."


@pytest.fixture
def accepted(minji):
    """An export that our listener accepted, with its run."""
    job = export(minji)
    StreamOutbox.objects.all().delete()
    assert lifecycle.accept_request(lifecycle.request_message(job)) == ""
    job.refresh_from_db()
    return job


def test_an_accepted_export_waits_for_a_free_or_online_worker(page, accepted):
    assert wait_of(page, accepted) == "late: No online worker serves exports."
    now = timezone.now()
    Worker.objects.create(name="w", roles=["FE", "export"], started_at=now, seen_at=now)
    assert wait_of(page, accepted) == "Waiting for a free worker."
    Worker.objects.update(roles=["FE"])
    assert wait_of(page, accepted).startswith("late: No online worker")
    claim(Execution.objects.get(pk=accepted.execution_id))
    assert wait_of(page, accepted) == "A worker has started; no progress yet."


def test_an_unsent_result_is_not_shown_as_silence(page, accepted):
    run = claim(Execution.objects.get(pk=accepted.execution_id))
    run.fail(failure_type="invalid_args", error="BAD_REPLAY: no")
    assert wait_of(page, accepted) == "The worker has finished; the result is being sent."
    age_outbox(90)
    assert wait_of(page, accepted).startswith("late: The worker has finished; the result waits to be sent")
    StreamOutbox.objects.all().delete()
    assert wait_of(page, accepted) == "The worker has finished; the result is on its way."


def test_silence_is_shown_before_and_after_the_stall_limit(page, minji):
    assert wait_of(page, running(minji, heard_seconds_ago=2)) == ""
    assert wait_of(page, running(minji, heard_seconds_ago=25)) == "late: No messages from the worker."
    longer = settings.DURE_EXPORT_STALL_SECONDS * 2 + 1
    assert "the listener that should have ended the export" in wait_of(
        page, running(minji, heard_seconds_ago=longer)
    )


@pytest.fixture
def redis_down(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    redis.client.cache_clear()
    yield
    redis.client.cache_clear()


def test_pages_work_while_redis_is_down(page, minji, redis_down, django_capture_on_commit_callbacks):
    job = export(minji)
    for path in ("/exports", f"/exports/{job.pk}", f"/exports/parts?id={job.pk}", "/exports/replays"):
        assert page.get(path).status_code == 200
    with django_capture_on_commit_callbacks(execute=True):
        started = page.post(f"/exports/replays/{job.replay_id}/mp4", follow=True)
        cancelled = page.post(f"/exports/{job.pk}/cancel", follow=True)
    assert "Being sent to the workers." in started.content.decode()
    assert "The export was cancelled." in cancelled.content.decode()
