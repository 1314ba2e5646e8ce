"""The socket of an office's events: who may listen, where it begins, and that nothing is left out."""

import asyncio
import threading
import time
from datetime import timedelta
from uuid import UUID

import pytest
from django.conf import settings
from django.db import connections
from django.utils import timezone
from redis import Redis
from websockets.exceptions import ConnectionClosed

from jobs import lifecycle, submission
from jobs.models import ApiToken, Event, Membership, Office
from jobs.sockets.events import OfficeEvents
from jobs.states import MemberRole
from tests.integration.rest_support import forget_counts, make_user
from tests.integration.test_rest_sockets import code_of, opened, said
from tests.integration.waiting import wait_until
from tests.integration.web_process import running
from tests.workers import database_url

pytestmark = pytest.mark.django_db(transaction=True)

NOBODY_RINGS = "redis://127.0.0.1:1/0"


@pytest.fixture(scope="module")
def address(tmp_path_factory, django_db_setup):
    with running(tmp_path_factory.mktemp("web"), module="config.web", DATABASE_URL=database_url()) as web:
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
    office = Office.objects.create(name="Ours", max_concurrent_jobs=1)
    Membership.objects.create(office=office, user=user, role=MemberRole.VIEWER)
    return office


def events_of(office: Office, query: str = "") -> str:
    return f"/ws/offices/{office.pk}/events{query}"


def submit(office: Office, count: int = 1) -> list[UUID]:
    jobs = [
        {"ref": f"job {number}", "task_id": "demo.sum", "args": {"numbers": [1]}} for number in range(count)
    ]
    return lifecycle.submit(submission.read(office, {"jobs": jobs}))


def ids_of(office: Office) -> list[int]:
    return list(Event.objects.filter(office_id=office.pk).order_by("id").values_list("id", flat=True))


def heard(ws, last: int) -> list[int]:
    """The ids of the events up to that one, however long the silence in between."""
    found: list[int] = []
    while not found or found[-1] < last:
        message = said(ws)
        if message["type"] != "heartbeat":
            found.append(message["id"])
    return found


def test_it_begins_with_a_snapshot_and_tells_each_event_as_it_happens(address, office, token):
    submit(office)
    before = ids_of(office)
    with opened(address, events_of(office), token) as ws:
        snapshot = said(ws)
        assert snapshot == {
            "type": "snapshot",
            "last_id": before[-1],
            "data": {"office_id": str(office.pk), "first_id": before[0], "complete": True},
        }
        (job,) = submit(office)
        event = said(ws)
    assert event["type"] == "job_ready"
    assert event["id"] > before[-1]
    assert (event["job_id"], event["office_id"]) == (str(job), str(office.pk))
    assert event["timestamp"].endswith("+09:00")


def test_an_event_is_told_when_its_bell_rings_and_not_at_the_next_look(address, office, token):
    with opened(address, events_of(office), token) as ws:
        said(ws)
        wait_until(lambda: Office.objects.get(pk=office.pk).watched_until)
        quickest = 10.0
        for _ in range(3):
            began = time.monotonic()
            submit(office)
            said(ws)
            quickest = min(quickest, time.monotonic() - began)
    assert quickest < 0.5


def test_whoever_comes_back_gets_all_that_happened_meanwhile(address, office, token):
    submit(office, 3)
    ids = ids_of(office)
    with opened(address, events_of(office, f"?after={ids[0]}"), token) as ws:
        snapshot = said(ws)
        assert snapshot["last_id"] == ids[0]
        assert snapshot["data"]["complete"] is True
        assert heard(ws, ids[-1]) == ids[1:]


def test_resuming_in_the_middle_of_much_traffic_leaves_no_gap_and_repeats_nothing(address, office, token):
    def work() -> None:
        for _ in range(30):
            submit(office, 10)
        connections.close_all()

    busy = [threading.Thread(target=work) for _ in range(2)]
    for thread in busy:
        thread.start()
    found: list[int] = []
    while any(thread.is_alive() for thread in busy) and len(found) < 450:
        # Each time from where the last one ended, and cut off in mid-sentence.
        last = found[-1] if found else 0
        with opened(address, events_of(office, f"?after={last}"), token) as ws:
            assert said(ws)["last_id"] == last
            found += [said(ws)["id"] for _ in range(70)]
    for thread in busy:
        thread.join()
    ids = ids_of(office)
    with opened(address, events_of(office, f"?after={found[-1]}"), token) as ws:
        said(ws)
        found += heard(ws, ids[-1])
    assert found == ids
    assert len(ids) == 600


def test_many_sockets_of_one_office_hear_the_same(address, office, token):
    sockets = [opened(address, events_of(office), token) for _ in range(20)]
    try:
        for ws in sockets:
            said(ws)
        submit(office, 300)
        ids = ids_of(office)
        assert all(heard(ws, ids[-1]) == ids for ws in sockets)
    finally:
        for ws in sockets:
            ws.close()


def test_silence_longer_than_any_time_out_of_the_redis_client_does_not_end_it(address, office, token):
    with opened(address, events_of(office), token) as ws:
        said(ws)
        with pytest.raises(TimeoutError):
            ws.recv(timeout=6.5)
        submit(office)
        assert said(ws)["type"] == "job_ready"


def test_without_redis_the_events_come_all_the_same(tmp_path, office, token):
    alone = {"DATABASE_URL": database_url(), "REDIS_URL": NOBODY_RINGS}
    with (
        running(tmp_path, module="config.web", **alone) as web,
        opened(f"ws://127.0.0.1:{web.port}", events_of(office), token) as ws,
    ):
        said(ws)
        submit(office)
        assert said(ws)["type"] == "job_ready"


def test_a_connection_to_redis_that_breaks_is_made_again(address, office, token):
    redis = Redis.from_url(settings.REDIS_URL)
    with opened(address, events_of(office), token) as ws:
        said(ws)
        wait_until(lambda: redis.pubsub_numsub(f"dure:office:{office.pk}")[0][1])
        before = {client["id"] for client in redis.client_list(_type="pubsub")}
        for client in before:
            redis.client_kill_filter(_id=client)
        wait_until(lambda: redis.pubsub_numsub(f"dure:office:{office.pk}")[0][1])
        submit(office)
        assert said(ws)["type"] == "job_ready"


def test_an_office_is_watched_only_while_somebody_looks(address, office, token):
    redis = Redis.from_url(settings.REDIS_URL)
    channel = f"dure:office:{office.pk}"
    with opened(address, events_of(office), token) as ws:
        said(ws)
        watched = wait_until(lambda: Office.objects.get(pk=office.pk).watched_until)
        assert watched > timezone.now() + timedelta(seconds=40)
        wait_until(lambda: redis.pubsub_numsub(channel)[0][1] == 1)
    wait_until(lambda: redis.pubsub_numsub(channel)[0][1] == 0)


def test_what_is_older_than_the_list_is_said_to_be_missing(address, office, token):
    submit(office, 5)
    ids = ids_of(office)
    Office.objects.filter(pk=office.pk).update(created_at=timezone.now() - timedelta(days=99))
    Event.objects.filter(id__lte=ids[2]).delete()
    with opened(address, events_of(office, f"?after={ids[0]}"), token) as ws:
        snapshot = said(ws)
        assert snapshot["last_id"] == ids[0]
        assert snapshot["data"] == {"office_id": str(office.pk), "first_id": ids[3], "complete": False}
        assert heard(ws, ids[-1]) == ids[3:]


def test_an_id_from_the_future_does_not_make_it_deaf(address, office, token):
    submit(office)
    ids = ids_of(office)
    with opened(address, events_of(office, "?after=9000000000000000000"), token) as ws:
        snapshot = said(ws)
        assert (snapshot["last_id"], snapshot["data"]["complete"]) == (ids[-1], False)
        submit(office)
        assert said(ws)["id"] > ids[-1]


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "", "٣", "9" * 40])
def test_an_after_that_is_no_id_is_refused(address, office, token, after):
    with opened(address, events_of(office, f"?after={after}"), token) as ws:
        assert code_of(ws) == 1007


def test_without_credentials_it_is_4401(address, office):
    with opened(address, events_of(office)) as ws:
        assert code_of(ws) == 4401


def test_a_foreign_office_is_like_one_that_does_not_exist(address, office):
    stranger = ApiToken.issue(make_user("stranger"), "test", timezone.now())[1]
    for path in (
        events_of(office),
        "/ws/offices/0199c0de-0000-7000-8000-000000000001/events",
        "/ws/offices/1/events",
    ):
        with opened(address, path, stranger) as ws:
            # And not a word before it.
            with pytest.raises(ConnectionClosed) as closed:
                ws.recv(timeout=10)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4404


def test_whoever_leaves_the_office_is_not_admitted_any_more(office, user):
    stranger, staff = make_user("stranger"), make_user("staff", is_staff=True)
    source = OfficeEvents(office.pk)
    asyncio.run(source.keep())
    assert [source.admits(one) for one in (user, staff, stranger)] == [True, True, False]
    Membership.objects.all().delete()
    asyncio.run(source.keep())
    assert not source.admits(user)


def test_nobody_hears_the_events_of_another_office(address, office, token):
    other = Office.objects.create(name="Theirs")
    with opened(address, events_of(office), token) as ws:
        said(ws)
        submit(other, 3)
        (job,) = submit(office)
        assert said(ws)["job_id"] == str(job)
