"""Notifications of step queues: events of a run, its callback, and mail about failed rollbacks."""

import json

import pytest
from django.core import mail
from standardwebhooks.webhooks import Webhook as Signer

from jobs.errors import Invalid
from jobs.models import Execution, Webhook
from jobs.notifications import webhooks
from scheduler.steps import lifecycle
from tests.factories import a_user, an_office
from tests.step_factories import Claimed, a_job, a_queue, completed, events, fresh, run_to_end, steps
from tests.unit.stub_server import stub

pytestmark = pytest.mark.django_db


def notifications(task_id: str) -> list[Execution]:
    return list(Execution.objects.filter(task_id=task_id).order_by("id"))


def body_of(request: bytes) -> tuple[dict[str, str], bytes]:
    head, _, body = request.partition(b"\r\n\r\n")
    lines = [line.partition(": ") for line in head.decode().split("\r\n")[1:]]
    return {name.lower(): value for name, _, value in lines}, body


def test_the_events_of_a_run_are_in_order():
    queue = completed(a_queue(a_job("a"), a_job("b", "fail")))
    types = [event.type for event in events(queue)]
    assert types == ["queue_started", *["step_ended"] * 4, "queue_finished"]
    first = events(queue)[1].details
    assert first == {
        "job_id": str(steps(queue)[0].job_id),
        "number": 1,
        "direction": "FORWARD",
        "operation": "do",
        "state": "SUCCESS",
        "return": "a did",
    }
    finished = events(queue)[-1]
    assert finished.details == {"operation_direction": "BACKWARD", "queue_return": queue.queue_return}


def test_a_cancel_is_an_event():
    queue = a_queue(a_job("a"))
    lifecycle.run(queue.queue_id)
    lifecycle.cancel(queue.queue_id)
    assert [event.type for event in events(queue)][:2] == ["queue_started", "queue_cancel_requested"]


def test_the_return_message_goes_to_the_callback_with_a_signature(settings):
    with stub(b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n") as server:
        settings.DURE_HTTP_ALLOW = [f"127.0.0.1:{server.port}"]
        queue = completed(
            a_queue(a_job("a"), callback_url=f"http://127.0.0.1:{server.port}/hook", name="mine")
        )
        (notification,) = notifications("steps.deliver")
        Claimed(notification).perform()
        (request,) = server.requests
    headers, body = body_of(request)
    message = Signer(queue.callback_secret).verify(body, headers)
    assert json.loads(body) == message
    assert message["type"] == "queue_finished"
    assert message["timestamp"].endswith("+09:00")
    assert message["data"] == {
        "queue_id": queue.queue_id,
        "name": "mine",
        "run": 1,
        "operation_direction": "FORWARD",
        "queue_return": queue.queue_return,
    }
    notification.refresh_from_db()
    assert (notification.status, notification.result) == ("SUCCESS", {"status": 204})


def test_a_callback_that_answers_an_error_is_retried(settings):
    with stub(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n") as server:
        settings.DURE_HTTP_ALLOW = [f"127.0.0.1:{server.port}"]
        completed(a_queue(a_job("a"), callback_url=f"http://127.0.0.1:{server.port}/hook"))
        (notification,) = notifications("steps.deliver")
        Claimed(notification).perform()
    notification.refresh_from_db()
    assert (notification.status, notification.retry_count) == ("PENDING", 1)
    assert notification.failure_type == "session_error"
    assert notification.due_at is not None


def test_an_internal_callback_address_is_not_called(settings):
    with pytest.raises(Invalid) as refused:
        a_queue(callback_url="http://127.0.0.1:8080/hook")
    assert "callback_url" in refused.value.errors
    with stub() as server:
        settings.DURE_HTTP_ALLOW = [f"127.0.0.1:{server.port}"]
        completed(a_queue(a_job("a"), callback_url=f"http://127.0.0.1:{server.port}/hook"))
        # The address is checked again at each request.
        settings.DURE_HTTP_ALLOW = []
        (notification,) = notifications("steps.deliver")
        Claimed(notification).perform()
        assert server.connections == 0
    notification.refresh_from_db()
    assert (notification.status, notification.failure_type) == ("FAILED", "permission_error")


def test_the_owner_gets_a_mail_when_a_step_could_not_be_undone():
    owner = a_user("carol", email="carol@example.com")
    queue = completed(a_queue(a_job("a", "fail", "fail"), owner=owner))
    (notification,) = notifications("steps.mail")
    Claimed(notification).perform()
    (sent,) = mail.outbox
    assert sent.to == ["carol@example.com"]
    assert f"/api/queues/{queue.queue_id}/jobs/{steps(queue)[0].job_id}/rerun" in sent.body
    assert "a fails as asked" in sent.body


def test_an_office_is_notified_by_mail_and_webhooks_when_a_step_could_not_be_undone():
    office = an_office(notify_emails=["ops@example.com"])
    fields = {"office": office, "secret": "whsec_AAAA", "event_types": ["job_failed"]}
    hook = Webhook.objects.create(url="https://hooks.example.com/", **fields)
    Webhook.objects.create(url="https://off.example.com/", **fields, enabled=False)
    Webhook.objects.create(url="https://other.example.com/", **fields | {"event_types": ["batch_completed"]})
    completed(
        a_queue(a_job("a", "fail", "fail"), owner=a_user("carol", email="carol@example.com"), office=office)
    )
    (mail_to_office,), (delivery,) = notifications("steps.mail"), notifications("steps.deliver")
    assert mail_to_office.args["address"] == "ops@example.com"
    assert delivery.args["webhook"] == hook.id


def test_a_chat_reads_of_a_failed_rollback(settings):
    settings.LANGUAGE_CODE = "en"
    office = an_office()
    with stub(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") as server:
        settings.DURE_HTTP_ALLOW = [f"127.0.0.1:{server.port}"]
        webhooks.add(office, f"http://127.0.0.1:{server.port}/token", ["job_failed"], format="slack")
        queue = completed(a_queue(a_job("a", "fail", "fail"), office=office, name="mine"))
        (notification,) = notifications("steps.deliver")
        Claimed(notification).perform()
        (request,) = server.requests
    headers, body = body_of(request)
    message = json.loads(body)
    assert "webhook-signature" not in headers
    assert message["text"].endswith("mine has failed")
    assert "a fails as asked" in body.decode() and f"/step-queues/{queue.queue_id}" in body.decode()


def test_no_mail_is_sent_when_every_step_was_undone():
    completed(a_queue(a_job("a", "fail"), owner=a_user("carol", email="carol@example.com")))
    assert not notifications("steps.mail")


def test_a_notification_of_a_deleted_queue_sends_nothing():
    queue = completed(a_queue(a_job("a"), callback_url="https://hooks.example.com/"))
    (notification,) = notifications("steps.deliver")
    queue.delete()
    Claimed(notification).perform()
    notification.refresh_from_db()
    assert (notification.status, notification.result) == ("SUCCESS", None)


def test_a_notifications_end_moves_no_queue():
    queue = a_queue(a_job("a"), callback_url="https://hooks.example.com/")
    completed(queue)
    lifecycle.run(queue.queue_id)
    (notification,) = notifications("steps.deliver")
    Claimed(notification).lose()
    assert fresh(queue).state == "RUNNING"
    run_to_end(queue)
