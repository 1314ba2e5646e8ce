"""A job fails on a real worker, and its office's webhook is called."""

import pytest

from jobs.notifications import webhooks
from tests import workers
from tests.factories import a_job, an_office
from tests.integration.webhook_receiver import receiving
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_failed_job_calls_the_webhook(tmp_path, settings):
    settings.DURE_HTTP_ALLOW = ("127.0.0.1/32",)
    allowed = {"DURE_HTTP_ALLOW": "127.0.0.1/32"}
    office = an_office(name="Ours")
    with receiving() as receiver, workers.running(tmp_path, queues="default,notices", env=allowed):
        webhook = webhooks.add(office, receiver.url)
        a_job(office, task_id="demo.fail", args={"message": "Sorry."}, role="default", max_retries=0)
        eventually(lambda: len(receiver.messages) >= 2)
        (failed,) = [
            message for message in receiver.verified(webhook.secret) if message["type"] == "job_failed"
        ]
    assert failed["data"]["details"]["error"] == "Sorry."
