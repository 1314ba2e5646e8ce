"""The pages of webhooks: create, change, secrets that are shown once, test messages, deliveries, refusals."""

import re

import pytest

from jobs.models import Notification, Webhook
from jobs.notifications import delivery, webhooks
from jobs.states import MemberRole
from tests.factories import a_member, a_user, an_office
from tests.integration.pages.clients import at, field_error, sign_in, text_of
from tests.integration.webhook_receiver import answer, receiving

pytestmark = pytest.mark.django_db

FORM = {"url": "https://example.org/hook", "event_types": ["job_failed"]}


@pytest.fixture(autouse=True)
def loopback_is_allowed(settings):
    settings.DURE_HTTP_ALLOW = ("127.0.0.1/32",)


def webhook_page(webhook: Webhook, rest: str = "") -> str:
    return at(webhook.office, f"/webhooks/{webhook.pk}{rest}")


def secret_in(page) -> str:
    match = re.search(r"<code>(whsec_[^<]+)</code>", text_of(page))
    assert match is not None
    return match[1]


def test_a_webhook_is_created_and_its_secret_is_on_that_page_only(office, alice):
    page = alice.post(at(office, "/webhooks"), FORM)
    webhook = Webhook.objects.get()
    assert (webhook.url, webhook.event_types, webhook.enabled) == (FORM["url"], ["job_failed"], True)
    assert secret_in(page) == webhook.secret
    assert "no-store" in page["Cache-Control"]
    for path in (at(office, "/webhooks"), webhook_page(webhook)):
        text = text_of(alice.get(path))
        assert FORM["url"] in text
        assert "whsec_" not in text
    rotated = secret_in(alice.post(webhook_page(webhook, "/rotate")))
    assert rotated == Webhook.objects.get().secret != webhook.secret


@pytest.mark.parametrize(
    ("change", "field", "english", "korean"),
    [
        ({"url": "ftp://example.org"}, "url", "must start with http://", "http://"),
        ({"url": "http://10.0.0.1/"}, "url", "Only public addresses", "공개"),
        ({"event_types": []}, "event_types", "required", "필수"),
        ({"event_types": ["job_dreamt"]}, "event_types", "Select a valid choice", "올바"),
    ],
)
def test_an_invalid_webhook_is_refused_at_its_field(office, change, field, english, korean):
    for language, expected in (("en", english), ("ko", korean)):
        client = sign_in(language=language)
        refused = client.post(at(office, "/webhooks"), {**FORM, **change})
        assert refused.status_code == 400
        assert expected in field_error(refused, field)
        webhook = webhooks.add(office, "https://example.org/other")
        assert client.post(webhook_page(webhook), {**FORM, **change}).status_code == 400
        assert Webhook.objects.get().url == "https://example.org/other"
        webhooks.remove(webhook)


def test_a_webhook_is_changed_disabled_enabled_and_deleted(office, alice):
    webhook = webhooks.add(office, "https://example.org/a")
    alice.post(webhook_page(webhook), FORM)
    assert Webhook.objects.get().url == FORM["url"]
    alice.post(webhook_page(webhook, "/disable"))
    assert not Webhook.objects.get().enabled
    page = alice.post(webhook_page(webhook, "/test"), follow=True)
    assert "The webhook is disabled: enable it first." in text_of(page)
    assert not Notification.objects.exists()
    alice.post(webhook_page(webhook, "/enable"))
    assert Webhook.objects.get().enabled
    assert alice.post(webhook_page(webhook, "/nonsense")).status_code == 404
    assert "Delete the webhook" in text_of(alice.get(webhook_page(webhook, "/delete")))
    alice.post(webhook_page(webhook, "/delete"))
    assert not Webhook.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_test_message_arrives_signed_and_its_delivery_is_sent_again(office, alice):
    with receiving() as receiver:
        webhook = webhooks.add(office, receiver.url)
        receiver.answers = [answer("500 Internal Server Error", body="broken receiver")]
        alice.post(webhook_page(webhook, "/test"))
        alice.post(webhook_page(webhook, "/test"))
        delivery.send_due()
        first, second = receiver.verified(webhook.secret)
        assert first["type"] == second["type"] == "test"
        assert first["data"] == {"office_id": str(office.pk), "webhook_id": webhook.pk}
        assert len(set(receiver.ids)) == 2
        page = text_of(alice.get(webhook_page(webhook)))
        assert "broken receiver" in page
        assert "Delivered" in page
        failed = Notification.objects.get(sent_at=None)
        alice.post(webhook_page(webhook, f"/deliveries/{failed.pk}"))
        delivery.send_due()
        assert receiver.ids[2] in receiver.ids[:2]
    assert not Notification.objects.filter(sent_at=None).exists()


def test_only_owners_see_and_change_webhooks(office):
    webhook = webhooks.add(office, "https://example.org/a")
    a_member(office, "olga", MemberRole.OPERATOR)
    for rest in ("", f"/{webhook.pk}", f"/{webhook.pk}/delete"):
        path = at(office, f"/webhooks{rest}")
        assert sign_in("olga").get(path).status_code == 403
    acts = ("", "/delete", "/disable", "/rotate", "/deliveries/1")
    for rest in ("", *(f"/{webhook.pk}{act}" for act in acts)):
        path = at(office, f"/webhooks{rest}")
        assert sign_in("olga").post(path, FORM).status_code == 403, rest
    after = Webhook.objects.get()
    assert (after.url, after.enabled, after.secret) == (webhook.url, True, webhook.secret)


def test_a_webhook_is_reached_through_its_own_office_only(office, alice):
    theirs = webhooks.add(an_office(a_user("omar")), "https://example.org/a")
    for rest in ("", "/disable", "/test", "/delete", "/deliveries/1"):
        assert alice.post(at(office, f"/webhooks/{theirs.pk}{rest}"), FORM).status_code == 404
    assert Webhook.objects.get().enabled


CHAT_URL = "https://hooks.slack.com/services/a-secret-token"
CHAT = {"url": CHAT_URL, "format": "slack", "event_types": ["job_failed"]}


def test_a_webhook_of_a_chat_has_no_secret_and_its_url_is_not_returned(office, alice):
    pages = [alice.post(at(office, "/webhooks"), CHAT)]
    webhook = Webhook.objects.get()
    assert (webhook.format, webhook.url) == ("slack", CHAT["url"])
    of_office = [at(office, rest) for rest in ("/webhooks", "/activity")]
    of_webhook = [webhook_page(webhook, rest) for rest in ("", "/delete")]
    pages += [alice.get(path) for path in (*of_office, *of_webhook)]
    for page in pages:
        assert page.status_code == 200
        assert "a-secret-token" not in text_of(page) and "whsec_" not in text_of(page)
    assert "https://hooks.slack.com/…" in text_of(pages[1]) and "Slack" in text_of(pages[1])
    assert "/rotate" not in text_of(pages[3])
    refused = alice.post(webhook_page(webhook, "/rotate"), follow=True)
    assert "this webhook has no secret" in text_of(refused)


def test_the_url_of_a_chat_is_kept_unless_a_new_one_is_entered(office, alice):
    webhook = webhooks.add(office, CHAT_URL, format="slack")
    alice.post(webhook_page(webhook), {"url": "", "event_types": ["batch_completed"]})
    changed = Webhook.objects.get()
    assert (changed.url, changed.event_types) == (CHAT_URL, ["batch_completed"])
    alice.post(webhook_page(webhook), {**FORM, "format": "dure"})
    assert (Webhook.objects.get().url, Webhook.objects.get().format) == (FORM["url"], "slack")


def test_an_unknown_format_is_refused_at_its_field(office, alice):
    refused = alice.post(at(office, "/webhooks"), {**FORM, "format": "irc"})
    assert refused.status_code == 400
    assert "Select a valid choice" in field_error(refused, "format")
    assert not Webhook.objects.exists()
