"""Sockets: who gets in, what is said first, and how each of them ends."""

import json
import signal
import socket
import time
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections
from django.test import Client
from django.utils import timezone
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from jobs.models.access import ApiToken, SocketTicket
from jobs.sockets import tickets
from jobs.sockets.credentials import by_session, by_token, still_hold
from tests.integration.rest_support import client_of, forget_counts, make_user
from tests.integration.web_process import running

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def address(tmp_path_factory, django_db_setup):
    told = connections["default"].settings_dict
    url = f"postgresql://{told['USER']}:{told['PASSWORD']}@/{told['NAME']}?host={told['HOST']}&port={told['PORT']}"
    with running(tmp_path_factory.mktemp("web"), DATABASE_URL=url) as web:
        yield f"ws://127.0.0.1:{web.port}"


@pytest.fixture
def user():
    forget_counts()
    return make_user()


@pytest.fixture
def token(user):
    return ApiToken.issue(user, "test", timezone.now())[1]


def opened(address: str, path: str, token: str = "", **more):
    headers = {"Authorization": f"Token {token}"} if token else {}
    headers |= more.pop("headers", {})
    # Its own pings would hide what our heartbeat does.
    return connect(address + path, additional_headers=headers, ping_interval=None, open_timeout=10, **more)


def said(ws) -> Any:
    return json.loads(ws.recv(timeout=10))


def code_of(ws, say: str | None = None) -> int:
    """The code that the server ends with, within a time; meanwhile something may be said to it."""
    deadline = time.monotonic() + 15
    try:
        while (left := deadline - time.monotonic()) > 0:
            ws.send(say) if say else ws.recv(timeout=left)
    except ConnectionClosed as closed:
        assert closed.rcvd is not None, "closed without a code"
        return closed.rcvd.code
    raise AssertionError("The server did not end the socket.")


def session_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value


def test_the_first_word_is_the_snapshot_then_events_from_there(address, token):
    with opened(address, "/ws/count?after=1", token) as ws:
        assert said(ws) == {"type": "snapshot", "last_id": 1, "data": {"user": "alice"}}
        assert [said(ws)["id"] for _ in range(2)] == [2, 3]


def test_in_silence_there_is_a_heartbeat(address, token):
    with opened(address, "/ws/count?after=3", token) as ws:
        said(ws)
        assert [said(ws) for _ in range(2)] == [{"type": "heartbeat"}] * 2


def test_a_cookie_or_a_ticket_will_do(address, user):
    with opened(address, "/ws/count", headers={"Cookie": f"sessionid={session_of(user)}"}) as ws:
        assert said(ws)["data"] == {"user": "alice"}
    ticket = client_of(user).post("/api/ws-ticket").json()
    assert ticket["expires_in"] == 30
    with opened(address, f"/ws/count?ticket={ticket['ticket']}") as ws:
        assert said(ws)["data"] == {"user": "alice"}
    # Once.
    with opened(address, f"/ws/count?ticket={ticket['ticket']}") as ws:
        assert code_of(ws) == 4401


@pytest.mark.parametrize(
    "given",
    [{}, {"Authorization": "Token x"}, {"Authorization": "Bearer x"}, {"Cookie": "sessionid=nonsense"}],
)
def test_without_credentials_it_is_4401_and_nothing_else_is_said(address, user, given):
    with opened(address, "/ws/count", headers=given) as ws:
        with pytest.raises(ConnectionClosed) as closed:
            ws.recv(timeout=10)
        assert closed.value.rcvd
        assert closed.value.rcvd.code == 4401


def test_a_bad_token_is_not_made_up_for_by_a_good_cookie(address, user):
    headers = {"Cookie": f"sessionid={session_of(user)}", "Authorization": "Token dure_" + "x" * 43}
    with opened(address, "/ws/count", headers=headers) as ws:
        assert code_of(ws) == 4401


def test_what_is_not_there_is_4404(address, token):
    for path in ("/ws/nothing", "/", "/ws/count/"):
        with opened(address, path, token) as ws:
            assert code_of(ws) == 4404


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:1", "null"])
def test_a_foreign_page_gets_no_handshake(address, user, origin):
    cookie = {"Cookie": f"sessionid={session_of(user)}"}
    with pytest.raises(InvalidStatus) as refused, opened(address, "/ws/count", headers=cookie, origin=origin):
        pass
    assert refused.value.response.status_code == 403


def test_our_own_page_gets_one(address, user):
    cookie, ours = {"Cookie": f"sessionid={session_of(user)}"}, address.replace("ws", "http")
    with opened(address, "/ws/count", headers=cookie, origin=ours) as ws:
        assert said(ws)["type"] == "snapshot"


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("x" * 16_385, 1009),
        (b"{}", 1003),
        ("{", 1007),
        ("[1]", 1007),
        ('{"a": NaN}', 1007),
        ("[" * 5000, 1007),
    ],
)
def test_a_frame_that_is_no_small_json_object_ends_the_socket(address, token, frame, code):
    with opened(address, "/ws/count", token) as ws:
        said(ws)
        ws.send(frame)
        assert code_of(ws) == code


def test_a_client_that_talks_without_end_is_stopped(address, token):
    with opened(address, "/ws/count", token) as ws:
        said(ws)
        assert code_of(ws, say="{}") == 1008


def test_a_client_that_takes_nothing_is_cut_off_with_4408(address, token):
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    host, port = address.removeprefix("ws://").split(":")
    raw.connect((host, int(port)))
    # The library reads ahead until its queue is full, and then stops as a hanging client would.
    with opened(address, "/ws/flood", token, sock=raw, max_queue=1) as ws:
        said(ws)
        slept = timezone.now() + timedelta(seconds=1.2)
        while timezone.now() < slept:
            connection.ensure_connection()
        assert code_of(ws) == 4408


def test_a_revoked_token_ends_its_sockets(address, user, token):
    with opened(address, "/ws/count?after=3", token) as ws:
        said(ws)
        ApiToken.objects.update(revoked_at=timezone.now())
        assert code_of(ws) == 4401


def test_a_sign_out_ends_the_sockets_of_the_session_and_of_its_tickets(address, user):
    client = Client()
    client.force_login(user)
    key = client.cookies["sessionid"].value
    ticket = client.post("/api/ws-ticket").json()["ticket"]
    with (
        opened(address, "/ws/count?after=3", headers={"Cookie": f"sessionid={key}"}) as one,
        opened(address, f"/ws/count?after=3&ticket={ticket}") as two,
    ):
        said(one), said(two)
        client.logout()
        assert (code_of(one), code_of(two)) == (4401, 4401)


def test_a_stopping_server_says_1012(tmp_path, token):
    told = connection.settings_dict
    url = f"postgresql://{told['USER']}:{told['PASSWORD']}@/{told['NAME']}?host={told['HOST']}&port={told['PORT']}"
    with running(tmp_path, DATABASE_URL=url) as web:
        with opened(f"ws://127.0.0.1:{web.port}", "/ws/count", token) as ws:
            said(ws)
            web.process.send_signal(signal.SIGTERM)
            assert code_of(ws) == 1012
        assert web.process.wait(timeout=10) == 0
        assert "Traceback" not in web.log.read_text()


def test_a_ticket_opens_once_in_its_time_for_an_active_user(user):
    now = timezone.now()

    def redeemed(ticket: str, at=now) -> bool:
        return tickets.redeem(ticket, at) is not None

    first, late, gone = (tickets.issue(user, now) for _ in range(3))
    assert redeemed(first)
    assert not redeemed(first)
    assert not redeemed(late, now + timedelta(seconds=30))
    User.objects.update(is_active=False)
    assert not redeemed(gone)
    assert not redeemed("nonsense")
    assert first not in str(SocketTicket.objects.values())


def test_expired_tickets_are_swept_as_new_ones_are_made(user):
    now = timezone.now()
    for _ in range(3):
        tickets.issue(user, now)
    tickets.issue(user, now + timedelta(minutes=1))
    assert SocketTicket.objects.count() == 1


def test_credentials_hold_until_what_they_came_from_ends(user, token):
    now = timezone.now()
    with_token, with_session = by_token(token, now), by_session(session_of(user))
    assert with_token
    assert with_session
    assert still_hold(with_token, now)
    assert still_hold(with_session, now)
    user.set_password("another one")
    user.save()
    assert not still_hold(with_session, now)
    assert still_hold(with_token, now)
    User.objects.update(is_active=False)
    assert not still_hold(with_token, now)
