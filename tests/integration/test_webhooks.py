"""Webhooks: selected events, once and signed, and retries when a receiver does not answer."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import transaction
from django.utils import timezone

from jobs import sweeps
from jobs.errors import Conflict
from jobs.models import Event, EventCursor, Notification, Office, Webhook
from jobs.notifications import creation, delivery, requests, signing, webhooks
from jobs.states import EventType
from tests.concurrency.threads import all_at_once, in_thread, race
from tests.factories import an_office
from tests.integration.manual_engine import a_failure, fail, fail_and_retry, submit, succeed
from tests.integration.webhook_receiver import answer, receiving
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def loopback_is_allowed(settings):
    settings.DURE_HTTP_ALLOW = ("127.0.0.1/32",)


@pytest.fixture
def office():
    return an_office(name="Ours", max_concurrent_jobs=50)


@pytest.fixture
def receiver():
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def webhook(office, receiver):
    return webhooks.add(office, receiver.url)


def create_and_send(office: Office) -> int:
    """The two tasks, one after the other."""
    creation.create_from_events(office.pk)
    return delivery.send_due()


def test_a_failure_is_sent_and_verified_by_the_official_library(office, webhook, receiver):
    job = a_failure(office, error="No space left. 공간이 없습니다.")
    assert create_and_send(office) == 2
    failed, batch = receiver.verified(webhook.secret)
    event = Event.objects.get(type=EventType.JOB_FAILED)
    assert failed["type"] == "job_failed"
    assert failed["timestamp"] == failed["data"]["timestamp"]
    assert failed["data"]["id"] == event.pk
    assert failed["data"]["job_id"] == str(job)
    assert (failed["data"]["ref"], failed["data"]["task_id"]) == ("build", "demo.sum")
    assert failed["data"]["details"]["error"] == "No space left. 공간이 없습니다."
    assert batch["type"] == "batch_completed"
    assert batch["data"]["details"] == {"failed": 1}
    assert batch["data"]["batch_name"] == "by hand"
    assert receiver.messages[0][0]["content-type"] == "application/json"


def test_a_webhook_receives_its_event_types_only(office, receiver):
    webhook = webhooks.add(office, receiver.url, ["job_completed", "job_retrying"])
    good, bad = submit(office, "good", "bad")
    succeed(good)
    fail_and_retry(bad)
    create_and_send(office)
    assert [message["type"] for message in receiver.verified(webhook.secret)] == [
        "job_completed",
        "job_retrying",
    ]


def test_successes_and_retries_are_not_sent_by_default(office, webhook, receiver):
    good, bad = submit(office, "good", "bad")
    succeed(good)
    fail_and_retry(bad)
    assert create_and_send(office) == 0


def test_a_new_webhook_does_not_receive_past_events(office, receiver):
    a_failure(office)
    webhook = webhooks.add(office, receiver.url, ["job_failed"])
    a_failure(office, "later")
    assert create_and_send(office) == 1
    assert receiver.verified(webhook.secret)[0]["data"]["ref"] == "later"


def test_a_second_webhook_does_not_drop_unsent_events_of_the_first(office, webhook, receiver):
    a_failure(office)
    with receiving() as other:
        webhooks.add(office, other.url)
        assert create_and_send(office) == 2
        assert other.messages == []


def test_a_webhook_that_is_enabled_again_does_not_receive_what_it_missed(office, webhook, receiver):
    webhooks.change(webhook, enabled=False)
    a_failure(office)
    webhooks.change(webhook, enabled=True)
    a_failure(office, "later")
    create_and_send(office)
    assert {message["data"].get("ref") for message in receiver.verified(webhook.secret)} == {"later", None}
    assert len(receiver.messages) == 2


def test_notifications_are_created_once_even_if_the_cursor_moves_back(office, webhook, receiver):
    a_failure(office)
    creation.create_from_events(office.pk)
    # As if the cursor had been restored from a backup.
    EventCursor.objects.update(event_id=0)
    creation.create_from_events(office.pk)
    assert Notification.objects.count() == 2
    assert delivery.send_due() == 2
    assert delivery.send_due() == 0


def test_many_events_are_read_in_pages_and_each_once(office, webhook, monkeypatch):
    monkeypatch.setattr(creation, "PAGE", 7)
    for job in submit(office, *(f"job {number}" for number in range(30))):
        fail(job)
    assert creation.create_from_events(office.pk) == 31
    event_ids = list(Notification.objects.order_by("id").values_list("event_id", flat=True))
    assert event_ids == sorted(set(event_ids))


def test_creation_skips_an_office_that_another_process_works_on(office, webhook):
    a_failure(office)
    with transaction.atomic():
        assert creation.lock_cursor(office.pk)
        assert in_thread(lambda: creation.create_from_events(office.pk)) == 0
    assert creation.create_from_events(office.pk) == 2


def test_the_sweep_creates_notifications_whose_message_was_lost(office, webhook, receiver):
    a_failure(office)
    assert sweeps.sweep_once()["notifications"] == 2
    assert delivery.send_due() == 2
    assert sweeps.sweep_once()["notifications"] == 0


def test_an_office_has_webhooks_exactly_while_one_is_enabled(office, receiver):
    def has_webhooks() -> bool:
        return Office.objects.get(pk=office.pk).has_webhooks

    assert not has_webhooks()
    first, second = webhooks.add(office, receiver.url), webhooks.add(office, receiver.url, enabled=False)
    assert has_webhooks()
    webhooks.change(first, enabled=False)
    assert not has_webhooks()
    webhooks.change(second, enabled=True)
    assert has_webhooks()
    webhooks.remove(second)
    assert not has_webhooks()
    webhooks.change(first, enabled=True)
    webhooks.disable(first, "for a reason")
    assert not has_webhooks()


def test_an_office_has_webhooks_after_one_is_added_while_another_is_removed(office, receiver):
    for _ in range(10):
        old = webhooks.add(office, receiver.url)
        race(partial(webhooks.remove, old), partial(webhooks.add, office, receiver.url))
        assert Office.objects.get(pk=office.pk).has_webhooks
        webhooks.remove(Webhook.objects.get())


def test_a_failed_delivery_is_retried_on_its_schedule_and_then_given_up(
    office, webhook, receiver, monkeypatch
):
    monkeypatch.setattr(delivery, "JITTER", 0.0)
    webhooks.change(webhook, event_types=["job_failed"])
    a_failure(office)
    creation.create_from_events(office.pk)
    began = now = timezone.now() + timedelta(seconds=1)
    pauses = []
    for _ in range(7):
        receiver.answers.append(answer("500 Internal Server Error", body="out of order"))
        assert delivery.send_due(now) == 0
        notification = Notification.objects.get()
        assert notification.answer == "500 Internal Server Error out of order"
        if notification.next_at is None:
            break
        assert delivery.send_due(notification.next_at - timedelta(seconds=1)) == 0
        pauses.append((notification.next_at - now).total_seconds())
        now = notification.next_at
    assert pauses == [5, 300, 1800, 7200, 18000, 36000]
    assert notification.gave_up_at is not None
    assert len(receiver.messages) == notification.attempts == 7
    assert len(set(receiver.ids)) == 1
    assert delivery.send_due(began + timedelta(days=9)) == 0


def test_retry_delays_vary():
    assert delivery.retry_delay(1, 0.0) == timedelta(seconds=4)
    assert delivery.retry_delay(1, 1.0) == timedelta(seconds=6)
    assert delivery.retry_delay(7, 0.5) is None


def test_a_delivery_that_failed_once_arrives_at_the_second_attempt(office, webhook, receiver):
    receiver.answers += [answer("500 Oops")] * 2
    a_failure(office)
    assert create_and_send(office) == 0
    assert delivery.send_due(timezone.now() + timedelta(seconds=10)) == 2
    assert {notification.answer for notification in Notification.objects.all()} == {"204 No Content"}
    assert len(receiver.verified(webhook.secret)) == 4


def test_an_answer_of_410_disables_the_webhook(office, webhook, receiver):
    receiver.answers.append(answer("410 Gone"))
    a_failure(office)
    create_and_send(office)
    webhook.refresh_from_db()
    assert (webhook.enabled, webhook.disabled_reason) == (False, "It answered 410 Gone.")
    assert not Notification.objects.filter(next_at__isnull=False).exists()
    assert len(receiver.messages) == 1


def test_a_redirect_is_a_failure_and_is_not_followed(office, webhook, receiver):
    with receiving() as elsewhere:
        receiver.answers += [answer("302 Found", f"Location: {elsewhere.url}")] * 2
        a_failure(office)
        assert create_and_send(office) == 0
        assert elsewhere.messages == []
    assert "redirects are not followed" in Notification.objects.earliest("id").answer


@pytest.fixture
def short_timeout_if_silent(receiver, monkeypatch):
    """Half a second for a silent receiver. Others have their time: the machine may be busy."""
    post = signing.post

    def post_in_time(url, *values, seconds):
        is_silent = receiver.silent and url == receiver.url
        return post(url, *values, seconds=0.5 if is_silent else seconds)

    monkeypatch.setattr(signing, "post", post_in_time)


@pytest.mark.usefixtures("short_timeout_if_silent")
def test_a_receiver_that_does_not_answer_pauses_and_delays_no_other(office, webhook, receiver):
    receiver.silent, began = True, timezone.now()
    with receiving() as other:
        webhooks.add(office, other.url)
        for job in submit(office, *(f"job {number}" for number in range(20))):
            fail(job)
        assert create_and_send(office) == 21
        assert len(other.messages) == 21
    # One attempt was enough.
    assert receiver.server.connections == 1
    first = Notification.objects.filter(webhook=webhook).earliest("next_at").next_at
    assert first is not None
    assert first > began
    assert delivery.send_due(first - timedelta(seconds=1)) == 0
    assert receiver.server.connections == 1
    assert Notification.objects.filter(webhook=webhook, attempts=1).count() == 1
    receiver.silent = False
    assert delivery.send_due(timezone.now() + timedelta(minutes=1)) == 21


def test_retry_after_of_a_receiver_is_honoured(office, webhook, receiver):
    receiver.answers.append(answer("429 Too Many Requests", "Retry-After: 600"))
    a_failure(office)
    create_and_send(office)
    assert len(receiver.messages) == 1
    assert delivery.send_due(timezone.now() + timedelta(seconds=590)) == 0
    assert delivery.send_due(timezone.now() + timedelta(seconds=610)) == 2


def test_an_inner_address_is_not_reached_unless_the_settings_allow_it(office, webhook, receiver, settings):
    settings.DURE_HTTP_ALLOW = ()
    a_failure(office)
    assert create_and_send(office) == 0
    assert receiver.server.connections == 0
    assert "only public addresses" in Notification.objects.earliest("id").answer


def test_a_crash_after_the_claim_only_delays_a_delivery(office, webhook, receiver):
    a_failure(office)
    creation.create_from_events(office.pk)
    (batch,) = delivery.claim(10, [], None)
    batch.send()
    assert delivery.send_due() == 0
    assert delivery.send_due(timezone.now() + delivery.CLAIM_HOLD + timedelta(seconds=1)) == 2
    # It was sent twice, under the same ids.
    assert len(receiver.ids) == 4
    assert len(set(receiver.ids)) == 2


def test_a_late_report_of_an_old_attempt_changes_nothing(office, webhook, receiver):
    a_failure(office)
    creation.create_from_events(office.pk)
    (batch,) = delivery.claim(10, [], None)
    receiver.answers += [answer("500 Late")] * 2
    results = batch.send()
    assert delivery.send_due(timezone.now() + delivery.CLAIM_HOLD + timedelta(seconds=1)) == 2
    delivery.record(batch, results, None)
    assert (
        Notification.objects.filter(sent_at__isnull=False, next_at=None, answer="204 No Content").count() == 2
    )


def test_concurrent_senders_send_each_notification_once(office, receiver):
    with receiving() as second, receiving() as third:
        for each in (receiver, second, third):
            webhooks.add(office, each.url)
        for job in submit(office, *(f"job {number}" for number in range(25))):
            fail(job)
        creation.create_from_events(office.pk)
        all_at_once(lambda _: delivery.send_due(), 2)
        ids = [*receiver.ids, *second.ids, *third.ids]
    assert len(ids) == len(set(ids)) == 26 * 3


def test_a_rotated_secret_signs_at_once_and_the_old_one_for_a_day_more(office, webhook, receiver):
    old, now = webhook.secret, timezone.now()
    new = webhooks.rotate(webhook, now)
    a_failure(office)
    create_and_send(office)
    assert receiver.verified(new) == receiver.verified(old)
    assert webhooks.valid_secrets(webhook, now + timedelta(hours=25)) == [new]


def test_a_delivery_that_is_sent_again_has_the_same_id(office, webhook, receiver):
    a_failure(office)
    create_and_send(office)
    notification = Notification.objects.earliest("id")
    webhooks.send_again(notification)
    assert delivery.send_due() == 1
    assert receiver.ids.count(notification.message_id) == 2
    webhooks.change(webhook, enabled=False)
    with pytest.raises(Conflict):
        webhooks.send_again(notification)


def test_a_notification_is_sent_without_a_sweep(office, webhook, receiver, monkeypatch):
    """The engine's commit sends a message that creates it, and its creation sends one that delivers it."""
    from jobs import publish
    from jobs import tasks as engine_tasks

    by_name = {
        requests.CREATE_NOTIFICATIONS: engine_tasks.create_notifications,
        requests.SEND_NOTIFICATIONS: engine_tasks.send_notifications,
    }
    messages = []

    def send_control(name, *args, expires=None, queue=""):
        messages.append((name, queue))
        by_name[name](*args)
        return True

    monkeypatch.setattr(publish, "send_control", send_control)
    a_failure(office)
    eventually(lambda: len(receiver.messages) == 2)
    assert (requests.SEND_NOTIFICATIONS, "notices") in messages
    assert (requests.CREATE_NOTIFICATIONS, "") in messages
