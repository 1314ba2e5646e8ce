"""The socket of an office's events: access, the first event, and no gaps."""

import asyncio
import json
import time
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

import pytest
from django.conf import settings
from django.utils import timezone
from redis import Redis

from jobs.models import ApiToken, Event, Membership, Office
from jobs.sockets.events import OfficeEvents
from jobs.states import MemberRole
from tests.concurrency.threads import PATIENCE, start_thread
from tests.factories import an_office, submitted
from tests.integration.rest_support import forget_counts, make_user
from tests.integration.sockets import code_of, opened, receive
from tests.integration.web_process import running
from tests.workers import database_url, eventually

pytestmark = pytest.mark.django_db(transaction=True)

NO_REDIS = "redis://127.0.0.1:1/0"


@pytest.fixture(scope="module")
def address(tmp_path_factory, django_db_setup):
    # Its sockets do not poll.
    with running(tmp_path_factory.mktemp("web"), DATABASE_URL=database_url()) as web:
        yield f"ws://127.0.0.1:{web.port}"


@pytest.fixture
def user():
    forget_counts()
    return make_user()


@pytest.fixture
def token(user):
    return ApiToken.issue(user, "test", timezone.now())[1]


@pytest.fixture
def office(user):
    office = an_office(name="Ours", max_concurrent_jobs=1)
    Membership.objects.create(office=office, user=user, role=MemberRole.VIEWER)
    return office


def events_of(office: Office, query: str = "") -> str:
    return f"/ws/offices/{office.pk}/events{query}"


def submit(office: Office, count: int = 1) -> list[UUID]:
    return [job.id for job in submitted(office, *[{}] * count)]


def ids_of(office: Office) -> list[int]:
    return list(Event.objects.filter(office_id=office.pk).order_by("id").values_list("id", flat=True))


def receive_until(ws, last: int) -> list[int]:
    """The ids of the events up to that event, however long the silence in between."""
    ids: list[int] = []
    while not ids or ids[-1] < last:
        ids.append(receive(ws)["id"])
    return ids


def test_the_socket_sends_a_snapshot_and_each_event_as_it_happens(address, office, token):
    submit(office)
    before = ids_of(office)
    with opened(address, events_of(office), token) as ws:
        snapshot = receive(ws)
        assert snapshot == {
            "type": "snapshot",
            "last_id": before[-1],
            "data": {"office_id": str(office.pk), "first_id": before[0], "complete": True},
        }
        (job,) = submit(office)
        event = receive(ws)
    assert event["type"] == "job_ready"
    assert event["id"] > before[-1]
    assert (event["job_id"], event["office_id"]) == (str(job), str(office.pk))
    assert event["timestamp"].endswith("+09:00")


def test_an_event_arrives_when_it_is_published_and_not_at_the_next_poll(address, office, token):
    with opened(address, events_of(office), token) as ws:
        receive(ws)
        eventually(lambda: Office.objects.get(pk=office.pk).watched_until)
        for _ in range(3):
            (job,) = submit(office)
            assert receive(ws)["job_id"] == str(job)


def test_a_client_that_comes_back_gets_every_event_it_missed(address, office, token):
    submit(office, 3)
    ids = ids_of(office)
    with opened(address, events_of(office, f"?after={ids[0]}"), token) as ws:
        snapshot = receive(ws)
        assert snapshot["last_id"] == ids[0]
        assert snapshot["data"]["complete"] is True
        assert receive_until(ws, ids[-1]) == ids[1:]


def test_resuming_during_heavy_traffic_leaves_no_gap_and_repeats_nothing(address, office, token):
    def work() -> None:
        for _ in range(30):
            submit(office, 10)

    busy = [start_thread(work) for _ in range(2)]
    received: list[int] = []
    while not all(thread.done() for thread in busy) and len(received) < 450:
        # Each connection continues where the last ended, and is cut off in the middle.
        last = received[-1] if received else 0
        with opened(address, events_of(office, f"?after={last}"), token) as ws:
            assert receive(ws)["last_id"] == last
            received += [receive(ws)["id"] for _ in range(70)]
    for thread in busy:
        thread.result(PATIENCE)
    ids = ids_of(office)
    with opened(address, events_of(office, f"?after={received[-1]}"), token) as ws:
        receive(ws)
        received += receive_until(ws, ids[-1])
    assert received == ids
    assert len(ids) == 600


def test_many_sockets_of_one_office_receive_the_same_events(address, office, token):
    sockets = [opened(address, events_of(office), token) for _ in range(20)]
    try:
        for ws in sockets:
            receive(ws)
        submit(office, 300)
        ids = ids_of(office)
        assert all(receive_until(ws, ids[-1]) == ids for ws in sockets)
    finally:
        for ws in sockets:
            ws.close()


def test_a_silence_longer_than_the_redis_time_outs_does_not_close_the_socket(address, office, token):
    with opened(address, events_of(office), token) as ws:
        receive(ws)
        until = time.monotonic() + 6.5
        with suppress(TimeoutError):
            while (left := until - time.monotonic()) > 0:
                assert json.loads(ws.recv(timeout=left))["type"] == "heartbeat"
        submit(office)
        assert receive(ws)["type"] == "job_ready"


def test_events_arrive_without_redis(tmp_path, office, token):
    alone = {"DATABASE_URL": database_url(), "REDIS_URL": NO_REDIS}
    with (
        running(tmp_path, module="config.web", **alone) as web,
        opened(f"ws://127.0.0.1:{web.port}", events_of(office), token) as ws,
    ):
        receive(ws)
        submit(office)
        assert receive(ws)["type"] == "job_ready"


def test_a_broken_connection_to_redis_is_replaced(address, office, token):
    redis = Redis.from_url(settings.REDIS_URL)
    with opened(address, events_of(office), token) as ws:
        receive(ws)
        eventually(lambda: redis.pubsub_numsub(f"dure:office:{office.pk}")[0][1])
        before = {client["id"] for client in redis.client_list(_type="pubsub")}
        for client in before:
            redis.client_kill_filter(_id=client)
        eventually(lambda: redis.pubsub_numsub(f"dure:office:{office.pk}")[0][1])
        submit(office)
        assert receive(ws)["type"] == "job_ready"


def test_an_office_is_watched_only_while_a_socket_is_open(address, office, token):
    redis = Redis.from_url(settings.REDIS_URL)
    channel = f"dure:office:{office.pk}"
    with opened(address, events_of(office), token) as ws:
        receive(ws)
        watched = eventually(lambda: Office.objects.get(pk=office.pk).watched_until)
        assert watched > timezone.now() + timedelta(seconds=40)
        eventually(lambda: redis.pubsub_numsub(channel)[0][1] == 1)
    eventually(lambda: redis.pubsub_numsub(channel)[0][1] == 0)


def test_a_snapshot_is_incomplete_when_older_events_were_deleted(address, office, token):
    submit(office, 5)
    ids = ids_of(office)
    Office.objects.filter(pk=office.pk).update(created_at=timezone.now() - timedelta(days=99))
    Event.objects.filter(id__lte=ids[2]).delete()
    with opened(address, events_of(office, f"?after={ids[0]}"), token) as ws:
        snapshot = receive(ws)
        assert snapshot["last_id"] == ids[0]
        assert snapshot["data"] == {"office_id": str(office.pk), "first_id": ids[3], "complete": False}
        assert receive_until(ws, ids[-1]) == ids[3:]


def test_an_after_from_the_future_still_receives_new_events(address, office, token):
    submit(office)
    ids = ids_of(office)
    with opened(address, events_of(office, "?after=9000000000000000000"), token) as ws:
        snapshot = receive(ws)
        assert (snapshot["last_id"], snapshot["data"]["complete"]) == (ids[-1], False)
        submit(office)
        assert receive(ws)["id"] > ids[-1]


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "", "٣", "9" * 40])
def test_an_after_that_is_no_id_is_refused(address, office, token, after):
    with opened(address, events_of(office, f"?after={after}"), token) as ws:
        assert code_of(ws) == 1007


def test_a_foreign_office_is_like_an_office_that_does_not_exist(address, office):
    outsider = ApiToken.issue(make_user("outsider"), "test", timezone.now())[1]
    for path in (events_of(office), "/ws/offices/0199c0de-0000-7000-8000-000000000001/events"):
        with opened(address, path, outsider) as ws:
            assert code_of(ws) == 4404


def test_a_user_who_leaves_the_office_is_not_admitted_any_more(office, user):
    outsider, staff = make_user("outsider"), make_user("staff", is_staff=True)
    source = OfficeEvents(office.pk)
    asyncio.run(source.renew())
    assert [source.may_listen(reader) for reader in (user, staff, outsider)] == [True, True, False]
    Membership.objects.all().delete()
    asyncio.run(source.renew())
    assert not source.may_listen(user)


def test_a_socket_receives_no_events_of_another_office(address, office, token):
    other = an_office(name="Theirs")
    with opened(address, events_of(office), token) as ws:
        receive(ws)
        submit(other, 3)
        (job,) = submit(office)
        assert receive(ws)["job_id"] == str(job)
