"""The socket of a step queue: access, the first event, and each event as it happens."""

from typing import Any

import pytest
from django.utils import timezone

from jobs.models import ApiToken, Membership
from jobs.states import MemberRole
from scheduler.steps import lifecycle
from scheduler.steps.models import StepEvent
from tests.factories import an_office
from tests.integration.rest_support import forget_counts, make_user
from tests.integration.sockets import code_of, opened, receive
from tests.integration.web_process import running
from tests.step_factories import a_job, a_queue, completed, run_to_end
from tests.workers import database_url

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def address(tmp_path_factory, django_db_setup):
    with running(tmp_path_factory.mktemp("web"), "config.web", DATABASE_URL=database_url()) as web:
        yield f"ws://127.0.0.1:{web.port}"


@pytest.fixture
def alice():
    forget_counts()
    return make_user("alice")


@pytest.fixture
def token(alice):
    return ApiToken.issue(alice, "test", timezone.now())[1]


def path(queue, query=""):
    return f"/ws/queues/{queue.queue_id}{query}"


def received(ws, count):
    """So many events, however long the silence in between."""
    messages: list[dict[str, Any]] = []
    while len(messages) < count:
        messages.append(receive(ws))
    return messages


def test_the_socket_sends_the_queue_and_then_its_run_up_to_the_return_message(address, alice, token):
    queue = a_queue(a_job("a"), a_job("b", "fail"), owner=alice)
    with opened(address, path(queue), token) as ws:
        snapshot = receive(ws)
        assert (snapshot["type"], snapshot["last_id"]) == ("snapshot", 0)
        assert (snapshot["data"]["queue_id"], snapshot["data"]["state"]) == (queue.queue_id, "READY")
        lifecycle.run(queue.queue_id)
        run_to_end(queue)
        events = received(ws, 6)
    assert [event["type"] for event in events] == ["queue_started", *["step_ended"] * 4, "queue_finished"]
    assert [event["id"] for event in events] == sorted(event["id"] for event in events)
    assert [line["state"] for line in events[-1]["details"]["queue_return"]] == [
        "SUCCESS", "FAILED", "FAILED, CANCELED", "SUCCESS, CANCELED",
    ]  # fmt: skip


def test_the_socket_resumes_after_the_clients_last_event(address, alice, token):
    queue = completed(a_queue(a_job("a"), owner=alice))
    ids = list(StepEvent.objects.filter(queue=queue).order_by("id").values_list("id", flat=True))
    with opened(address, path(queue, f"?after={ids[0]}"), token) as ws:
        assert receive(ws)["last_id"] == ids[0]
        assert [event["id"] for event in received(ws, len(ids) - 1)] == ids[1:]


def test_the_socket_is_open_to_members_of_the_office_only(address, alice, token):
    office = an_office()
    queue = a_queue(a_job("a"), owner=make_user("bob"), office=office)
    for there_is_none in (path(queue), "/ws/queues/999999999"):
        with opened(address, there_is_none, token) as ws:
            assert code_of(ws) == 4404
    Membership.objects.create(office=office, user=alice, role=MemberRole.VIEWER)
    with opened(address, path(queue), token) as ws:
        assert receive(ws)["data"]["queue_id"] == queue.queue_id
