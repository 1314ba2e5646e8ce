"""Who is told what: events in order, the caller at the end of a run, the operators when undoing failed."""

import json

import pytest
from django.core import mail
from standardwebhooks.webhooks import Webhook as Signer

from jobs.errors import Invalid
from jobs.models import Execution, Webhook
from scheduler.steps import lifecycle
from tests.factories import a_user, an_office
from tests.step_factories import Claimed, a_job, a_queue, completed, events, fresh, run_to_end, steps
from tests.unit.stub_server import stub

pytestmark = pytest.mark.django_db


def notices(task_id: str) -> list[Execution]:
    return list(Execution.objects.filter(task_id=task_id).order_by("id"))


def body_of(request: bytes) -> tuple[dict[str, str], bytes]:
    head, _, body = request.partition(b"\r\n\r\n")
    lines = [line.partition(": ") for line in head.decode().split("\r\n")[1:]]
    return {name.lower(): value for name, _, value in lines}, body


def test_the_story_of_a_run_is_told_in_order():
    queue = completed(a_queue(a_job("a"), a_job("b", "fail")))
    assert [event.type for event in events(queue)] == [
        "queue_started",
        "step_ended",
        "step_ended",
        "step_ended",
        "step_ended",
        "queue_finished",
    ]
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


def test_a_cancel_is_a_part_of_the_story():
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
        (notice,) = notices("steps.deliver")
        Claimed(notice).perform()
        (request,) = server.requests
    headers, body = body_of(request)
    told = Signer(queue.callback_secret).verify(body, headers)
    assert json.loads(body) == told
    assert told["type"] == "queue_finished"
    assert told["data"] == {
        "queue_id": queue.queue_id,
        "name": "mine",
        "run": 1,
        "operation_direction": "FORWARD",
        "queue_return": queue.queue_return,
    }
    notice.refresh_from_db()
    assert (notice.status, notice.result) == ("SUCCESS", {"status": 204})


def test_a_callback_that_does_not_answer_well_is_told_again(settings):
    with stub(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n") as server:
        settings.DURE_HTTP_ALLOW = [f"127.0.0.1:{server.port}"]
        completed(a_queue(a_job("a"), callback_url=f"http://127.0.0.1:{server.port}/hook"))
        (notice,) = notices("steps.deliver")
        Claimed(notice).perform()
    notice.refresh_from_db()
    assert (notice.status, notice.retry_count, notice.failure_type) == ("PENDING", 1, "session_error")
    assert notice.due_at is not None


def test_an_inner_address_is_never_told_anything(settings):
    with pytest.raises(Invalid) as refused:
        a_queue(callback_url="http://127.0.0.1:8080/hook")
    assert "callback_url" in refused.value.errors
    with stub() as server:
        settings.DURE_HTTP_ALLOW = [f"127.0.0.1:{server.port}"]
        completed(a_queue(a_job("a"), callback_url=f"http://127.0.0.1:{server.port}/hook"))
        # What was allowed once is judged again each time.
        settings.DURE_HTTP_ALLOW = []
        (notice,) = notices("steps.deliver")
        Claimed(notice).perform()
        assert server.connections == 0
    notice.refresh_from_db()
    assert (notice.status, notice.failure_type) == ("FAILED", "permission_error")


def test_the_owner_is_written_to_when_something_could_not_be_undone():
    owner = a_user("carol", email="carol@example.com")
    queue = completed(a_queue(a_job("a", "fail", "fail"), owner=owner))
    (notice,) = notices("steps.mail")
    Claimed(notice).perform()
    (sent,) = mail.outbox
    assert sent.to == ["carol@example.com"]
    assert f"/api/queues/{queue.queue_id}/jobs/{steps(queue)[0].job_id}/rerun" in sent.body
    assert "a fails as asked" in sent.body


def test_the_office_is_told_by_its_addresses_and_webhooks_when_something_could_not_be_undone():
    office = an_office(notify_emails=["ops@example.com"])
    told = {"office": office, "secret": "whsec_AAAA", "event_types": ["job_failed"]}
    hook = Webhook.objects.create(url="https://hooks.example.com/", **told)
    Webhook.objects.create(url="https://off.example.com/", **told, enabled=False)
    Webhook.objects.create(url="https://other.example.com/", **told | {"event_types": ["batch_completed"]})
    completed(
        a_queue(a_job("a", "fail", "fail"), owner=a_user("carol", email="carol@example.com"), office=office)
    )
    assert [notice.args["address"] for notice in notices("steps.mail")] == ["ops@example.com"]
    assert [notice.args["webhook"] for notice in notices("steps.deliver")] == [hook.id]


def test_nobody_is_written_to_when_everything_was_undone():
    completed(a_queue(a_job("a", "fail"), owner=a_user("carol", email="carol@example.com")))
    assert not notices("steps.mail")


def test_a_notice_of_a_queue_that_is_gone_says_nothing():
    queue = completed(a_queue(a_job("a"), callback_url="https://hooks.example.com/"))
    (notice,) = notices("steps.deliver")
    queue.delete()
    Claimed(notice).perform()
    notice.refresh_from_db()
    assert (notice.status, notice.result) == ("SUCCESS", None)


def test_the_end_of_a_notice_moves_no_queue():
    queue = a_queue(a_job("a"), callback_url="https://hooks.example.com/")
    completed(queue)
    lifecycle.run(queue.queue_id)
    (notice,) = notices("steps.deliver")
    Claimed(notice).lose()
    assert fresh(queue).state == "RUNNING"
    run_to_end(queue)
