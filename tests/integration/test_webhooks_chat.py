"""Webhooks of chats: what arrives, and no credential in an error. test_webhooks has their delivery."""

import json
import logging

import pytest

from jobs.models import Notification, Webhook
from jobs.notifications import creation, delivery, webhooks
from tests.factories import an_office
from tests.integration.manual_engine import a_failure
from tests.integration.webhook_receiver import receiving

pytestmark = pytest.mark.django_db(transaction=True)
CHATS = ("slack", "discord", "teams")
TOKEN = "a-secret-token"


@pytest.fixture(autouse=True)
def allowed(settings):
    settings.DURE_HTTP_ALLOW = ("127.0.0.1/32",)
    settings.LANGUAGE_CODE = "en"


@pytest.fixture
def office():
    return an_office(name="R&D", max_concurrent_jobs=50)


@pytest.fixture
def receiver():
    with receiving() as server:
        yield server


def chat_webhook(office, receiver, chat: str = "slack") -> Webhook:
    return webhooks.add(office, f"{receiver.url}/{TOKEN}", ["job_failed"], format=chat)


@pytest.mark.parametrize("chat", CHATS)
def test_a_failure_arrives_as_a_message_without_a_signature(office, receiver, chat):
    chat_webhook(office, receiver, chat)
    job = a_failure(office, error="No space left.")
    creation.create_from_events(office.pk)
    assert delivery.send_due() == 1
    ((headers, body),) = receiver.messages
    assert headers["content-type"] == "application/json"
    assert not {name for name in headers if name.startswith("webhook-")}
    text = json.dumps(json.loads(body))
    for words in ("Job build", "No space left.", f"/offices/{office.pk}/jobs/{job}"):
        assert words in text
    assert (
        set(json.loads(body))
        == {
            "slack": {"text", "blocks"},
            "discord": {"embeds", "allowed_mentions"},
            "teams": {"type", "attachments"},
        }[chat]
    )


def test_a_test_message_is_sent_and_listed(office, receiver):
    webhook = chat_webhook(office, receiver)
    webhooks.send_test(webhook)
    assert delivery.send_due() == 1
    ((_, body),) = receiver.messages
    assert json.loads(body)["text"] == "Test message"
    assert Notification.objects.get().sent_at is not None


@pytest.mark.parametrize("reachable", [True, False])
def test_no_error_names_the_credential(office, receiver, settings, caplog, reachable):
    webhook = chat_webhook(office, receiver)
    if reachable:
        receiver.answers.append(b"nonsense\r\n\r\n")
    else:
        settings.DURE_HTTP_ALLOW = ()
    webhooks.send_test(webhook)
    Notification.objects.update(attempts=len(delivery.RETRY_DELAYS))  # the next attempt is the last
    with caplog.at_level(logging.DEBUG):
        assert delivery.send_due() == 0
    notification = Notification.objects.get()
    assert "127.0.0.1" in notification.answer and "gave up" in caplog.text
    assert len(receiver.messages) == reachable
    for text in (notification.answer, caplog.text, str(webhook)):
        assert TOKEN not in text
