"""The API of webhooks: for owners, with a secret that is shown once."""

import pytest
from django.db import IntegrityError

from jobs.models import Activity, Notification, Office, Webhook
from jobs.notifications import creation, delivery
from tests.factories import a_user, an_office
from tests.integration.manual_engine import a_failure
from tests.integration.rest_support import client_of, forget_counts
from tests.integration.webhook_receiver import answer, receiving

pytestmark = pytest.mark.django_db(transaction=True)

URL = "https://example.org/hook"


@pytest.fixture(autouse=True)
def loopback_is_allowed(settings):
    settings.DURE_HTTP_ALLOW = ("127.0.0.1/32",)
    forget_counts()


@pytest.fixture
def office():
    return an_office(a_user("owner"), name="Ours", max_concurrent_jobs=50)


@pytest.fixture
def owner(office):
    return client_of(a_user("owner"))


def webhooks_of(office: Office, rest: str = "") -> str:
    return f"/api/offices/{office.pk}/webhooks{rest}"


def create(client, office: Office, **body):
    return client.post(webhooks_of(office), {"url": URL, **body}, content_type="application/json")


def test_a_webhook_is_created_and_its_secret_shown_once(office, owner):
    answered = create(owner, office)
    assert answered.status_code == 201
    made = answered.json()
    assert made["secret"].startswith("whsec_")
    assert made["event_types"] == [
        *("job_failed", "batch_completed", "workflow_run_failed", "schedule_failing", "schedule_recovered")
    ]
    assert made["enabled"] is True
    assert answered["Location"].endswith(webhooks_of(office, f"/{made['id']}"))
    assert made["created_at"].endswith("+09:00")
    for path in (webhooks_of(office), webhooks_of(office, f"/{made['id']}")):
        response = owner.get(path)
        assert response.status_code == 200
        assert made["secret"] not in response.content.decode()
        body = response.json()
        assert "secret" not in (body["results"][0] if "results" in body else body)


def test_a_webhook_is_changed_and_deleted(office, owner):
    made = create(owner, office).json()
    path = webhooks_of(office, f"/{made['id']}")
    changed = owner.patch(
        path,
        {"event_types": ["job_completed", "job_failed"], "enabled": False},
        content_type="application/json",
    )
    assert changed.json()["event_types"] == ["job_completed", "job_failed"]
    assert changed.json()["enabled"] is False
    assert not Office.objects.get().has_webhooks
    assert owner.delete(path).status_code == 204
    assert owner.get(path).status_code == 404


def test_a_rotated_secret_is_shown_once(office, owner):
    made = create(owner, office).json()
    rotated = owner.post(webhooks_of(office, f"/{made['id']}/rotate"))
    assert rotated.status_code == 200
    assert rotated.json()["secret"] not in ("", made["secret"])
    assert rotated.json()["old_secret_until"] is not None
    assert Webhook.objects.get().old_secret == made["secret"]


def test_deliveries_are_listed_and_sent_again(office, owner):
    with receiving() as receiver:
        made = create(owner, office, url=receiver.url, event_types=["job_failed"]).json()
        receiver.answers.append(answer("500 Oops"))
        job = a_failure(office)
        creation.create_from_events(office.pk)
        delivery.send_due()
        path = webhooks_of(office, f"/{made['id']}/deliveries")
        (listed,) = owner.get(path).json()["results"]
        assert listed["body"]["data"]["job_id"] == str(job)
        assert (listed["attempts"], listed["answer"]) == (1, "500 Oops")
        assert (listed["sent_at"], listed["gave_up_at"]) == (None, None)
        again = owner.post(f"{path}/{listed['id']}/send-again")
        assert again.status_code == 202
        assert again["Location"].endswith(path)
        assert delivery.send_due() == 1
        assert receiver.ids == [listed["webhook_id"]] * 2
        (listed,) = owner.get(path).json()["results"]
        assert listed["sent_at"] is not None
        owner.patch(
            webhooks_of(office, f"/{made['id']}"), {"enabled": False}, content_type="application/json"
        )
        refused = owner.post(f"{path}/{listed['id']}/send-again")
        assert (refused.status_code, refused.json()["code"]) == (409, "webhook_disabled")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": "http://10.0.0.1/"}, "url"),
        ({"url": "https://example.org/" + "x" * 2000}, "url"),
        ({"url": ""}, "url"),
        ({"event_types": []}, "event_types"),
        ({"event_types": ["job_exploded"]}, "event_types.0"),
        ({"secret": "whsec_mine"}, "secret"),
        ({"disabled_reason": "mine"}, "disabled_reason"),
    ],
)
def test_an_invalid_webhook_is_refused(office, owner, body, field):
    answered = create(owner, office, **body)
    assert answered.status_code == 400
    assert field in answered.json()["errors"]
    assert not Webhook.objects.exists()


def test_an_office_has_at_most_twenty_webhooks(office, owner):
    Webhook.objects.bulk_create(Webhook(office=office, url=URL, secret="whsec_AAAA") for _ in range(20))
    answered = create(owner, office)
    assert (answered.status_code, answered.json()["code"]) == (409, "too_many_webhooks")


def test_an_office_is_deleted_with_its_webhooks_and_notifications(office, owner):
    create(owner, office)
    a_failure(office)
    creation.create_from_events(office.pk)
    assert owner.delete(f"/api/offices/{office.pk}").status_code == 204
    assert not (Webhook.objects.exists() or Notification.objects.exists())


def test_an_address_that_is_added_later_does_not_receive_past_events(office, owner):
    a_failure(office)
    body = {"notify_emails": ["minji@example.org"]}
    assert owner.patch(f"/api/offices/{office.pk}", body, content_type="application/json").status_code == 200
    assert creation.create_from_events(office.pk) == 0


def test_a_test_message_is_queued_and_refused_while_the_webhook_is_disabled(office, owner):
    made = create(owner, office).json()
    path = webhooks_of(office, f"/{made['id']}/test")
    answered = owner.post(path)
    assert answered.status_code == 202
    assert answered.json()["body"]["type"] == "test"
    assert answered.json()["event_id"] < 0
    change = {"enabled": False}
    owner.patch(webhooks_of(office, f"/{made['id']}"), change, content_type="application/json")
    assert owner.post(path).json()["code"] == "webhook_disabled"
    assert Notification.objects.count() == 1


CHATS = {
    "slack": "https://hooks.slack.com/services/T000/B000/a-secret-token",
    "discord": "https://discord.com/api/webhooks/1/a-secret-token",
    "teams": "https://prod-1.westus.logic.azure.com/workflows/1/triggers/manual?sig=a-secret-token",
}


@pytest.mark.parametrize("chat", CHATS)
def test_the_url_of_a_chat_is_a_credential_and_its_messages_have_no_secret(office, owner, chat):
    answered = create(owner, office, url=CHATS[chat], format=chat)
    made = answered.json()
    assert (answered.status_code, made["format"], made["secret"]) == (201, chat, None)
    path = webhooks_of(office, f"/{made['id']}")
    changed = owner.patch(path, {"event_types": ["job_failed"]}, content_type="application/json")
    texts = (answered, changed, owner.get(path), owner.get(webhooks_of(office)))
    assert all("a-secret-token" not in text.content.decode() for text in texts)
    assert made["url"] == CHATS[chat].split("/", 3)[0] + "//" + CHATS[chat].split("/")[2] + "/…"
    assert Webhook.objects.get().url == CHATS[chat]
    assert "a-secret-token" not in str(list(Activity.objects.values()))
    refused = owner.post(f"{path}/rotate")
    assert (refused.status_code, refused.json()["code"]) == (409, "webhook_not_signed")


@pytest.mark.parametrize("value", ["irc", "", None, 1, ["slack"], "SLACK"])
def test_an_unknown_format_is_refused_and_writes_nothing(office, owner, value):
    refused = create(owner, office, format=value)
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["format"])
    assert not Webhook.objects.exists()


def test_a_webhook_keeps_its_format(office, owner):
    made = create(owner, office, format="slack").json()
    path = webhooks_of(office, f"/{made['id']}")
    refused = owner.patch(path, {"format": "dure"}, content_type="application/json")
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["format"])
    assert Webhook.objects.get().format == "slack"


def test_the_database_knows_the_formats(office, owner):
    create(owner, office)
    with pytest.raises(IntegrityError):
        Webhook.objects.update(format="irc")
