"""Mail about permanent failures: its receivers, its rate, and its text."""

import smtplib
from datetime import timedelta

import pytest
from django.core import mail as outgoing
from django.core.mail.backends.locmem import EmailBackend
from django.utils import timezone

from jobs import retention, sweeps
from jobs.models import Notification, Office
from jobs.notifications import creation, delivery, mail
from tests.factories import an_office
from tests.integration.manual_engine import a_failure, fail, fail_and_retry, submit, succeed

pytestmark = pytest.mark.django_db(transaction=True)


class RefusingBackend(EmailBackend):
    """A mail backend whose next `refuses` messages fail."""

    refuses = 0

    def send_messages(self, messages):
        if RefusingBackend.refuses:
            RefusingBackend.refuses -= 1
            raise smtplib.SMTPServerDisconnected("Connection unexpectedly closed")
        return super().send_messages(messages)


@pytest.fixture(autouse=True)
def mail_settings(settings):
    settings.EMAIL_BACKEND = f"{__name__}.RefusingBackend"
    settings.LANGUAGE_CODE = "en"
    RefusingBackend.refuses = 0


@pytest.fixture
def office():
    return an_office(
        name="Ours", max_concurrent_jobs=50, notify_emails=["minji@example.org", "jun@example.org"]
    )


def later(**more: float):
    return timezone.now() + timedelta(**more)


def test_a_permanent_failure_is_mailed_to_each_address(office):
    job = a_failure(office, error="No space left.\nAsk the operator.")
    creation.create_from_events(office.pk)
    assert delivery.send_due() == 2
    assert sorted(message.to[0] for message in outgoing.outbox) == ["jun@example.org", "minji@example.org"]
    message = outgoing.outbox[0]
    assert message.subject == "[Dure] Ours: Job build (demo.sum) has failed"
    assert "No space left.\n  Ask the operator." in message.body
    assert f"/offices/{office.pk}/jobs/{job}" in message.body
    assert message.message()["Auto-Submitted"] == "auto-generated"


def test_the_mail_says_what_to_do(office):
    a_failure(office, failure_type="git_conflict")
    creation.create_from_events(office.pk)
    delivery.send_due()
    assert "Your intervention is needed: resolve the conflict" in outgoing.outbox[0].body


def test_successes_and_retries_are_not_mailed(office):
    good, bad = submit(office, "good", "bad")
    succeed(good)
    fail_and_retry(bad)
    assert creation.create_from_events(office.pk) == 0


def test_an_address_that_is_added_later_gets_no_mail_about_the_past(office):
    Office.objects.update(notify_emails=[])
    a_failure(office, "before")
    assert creation.create_from_events(office.pk) == 0
    Office.objects.update(notify_emails=["minji@example.org"])
    assert creation.create_from_events(office.pk) == 0
    a_failure(office, "after")
    assert creation.create_from_events(office.pk) == 1


def test_many_failures_are_one_mail(office):
    Office.objects.update(notify_emails=["minji@example.org"], max_concurrent_jobs=200)
    for job in submit(office, *(f"job {number}" for number in range(3 * mail.MAX_LISTED))):
        fail(job)
    creation.create_from_events(office.pk)
    assert delivery.send_due() == 3 * mail.MAX_LISTED
    (message,) = outgoing.outbox
    assert message.subject == f"[Dure] Ours: {3 * mail.MAX_LISTED} jobs have failed"
    assert message.body.count("It broke.") == mail.MAX_LISTED
    assert f"and {2 * mail.MAX_LISTED} more." in message.body


def test_an_address_gets_at_most_one_mail_a_minute(office):
    Office.objects.update(notify_emails=["minji@example.org"])
    jobs = submit(office, *(f"job {number}" for number in range(10)))
    began = timezone.now()
    for job in jobs:
        fail(job)
        creation.create_from_events(office.pk)
        delivery.send_due()
    assert len(outgoing.outbox) == 1
    assert delivery.send_due(began + timedelta(seconds=59)) == 0
    assert delivery.send_due(later(seconds=61)) == 9
    assert [message.subject for message in outgoing.outbox] == [
        "[Dure] Ours: Job job 0 (demo.sum) has failed",
        "[Dure] Ours: 9 jobs have failed",
    ]


def test_a_failure_during_a_mail_waits_for_the_next_one(office):
    Office.objects.update(notify_emails=["minji@example.org"])
    first, second = submit(office, "first", "second")
    fail(first)
    creation.create_from_events(office.pk)
    (batch,) = delivery.claim(10, [], None)
    fail(second)
    creation.create_from_events(office.pk)
    assert delivery.send_due() == 0
    delivery.record(batch, batch.send(), None)
    assert delivery.send_due(later(seconds=61)) == 1


def test_a_mail_that_cannot_be_sent_is_retried(office):
    RefusingBackend.refuses = 2
    a_failure(office)
    creation.create_from_events(office.pk)
    assert delivery.send_due() == 0
    assert "Connection unexpectedly closed" in Notification.objects.earliest("id").answer
    assert delivery.send_due(later(seconds=7)) == 2
    assert len(outgoing.outbox) == 2


def test_a_mail_is_given_up_after_the_last_attempt(office):
    Office.objects.update(notify_emails=["minji@example.org"])
    a_failure(office)
    creation.create_from_events(office.pk)
    RefusingBackend.refuses = 7
    now = timezone.now()
    for _ in range(7):
        assert delivery.send_due(now) == 0
        now += timedelta(hours=13)
    notification = Notification.objects.get()
    assert (notification.attempts, notification.next_at) == (7, None)
    assert notification.gave_up_at is not None
    assert delivery.send_due(now) == 0


def test_a_name_with_a_line_break_adds_no_header(office):
    Office.objects.update(name="Ours\nBcc: all@example.org")
    a_failure(office, "build\r\nBcc: everyone@example.org")
    creation.create_from_events(office.pk)
    assert delivery.send_due() == 2
    assert outgoing.outbox[0].message()["Bcc"] is None
    assert "\n" not in outgoing.outbox[0].subject


def test_an_invalid_address_does_not_affect_the_others(office):
    Office.objects.update(notify_emails=["minji@example.org", "x\nBcc: all@example.org"])
    a_failure(office)
    creation.create_from_events(office.pk)
    assert delivery.send_due() == 1
    assert [message.to for message in outgoing.outbox] == [["minji@example.org"]]


def test_the_sweep_creates_mail_whose_message_was_lost(office):
    a_failure(office)
    assert sweeps.sweep_once()["notifications"] == 2


def test_old_notifications_are_deleted_and_waiting_ones_kept(office):
    first, second = submit(office, "first", "second")
    fail(first)
    creation.create_from_events(office.pk)
    delivery.send_due()
    fail(second)
    creation.create_from_events(office.pk)
    assert dict(retention.steps(later(seconds=1), later(), 100))["notices"]() == 2
    assert Notification.objects.filter(next_at__isnull=False).count() == 2
