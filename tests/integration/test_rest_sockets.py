"""Sockets: access, first frames, and close codes."""

import signal
import socket
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from websockets.exceptions import ConnectionClosed

from jobs.models.access import ApiToken, SocketTicket
from jobs.sockets import credentials
from tests.integration.rest_support import client_of, forget_counts, make_user
from tests.integration.sockets import code_of, code_of_silent_client, frame, opened, receive
from tests.integration.web_process import running
from tests.workers import database_url

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def address(tmp_path_factory, django_db_setup):
    with running(tmp_path_factory.mktemp("web"), DATABASE_URL=database_url()) as web:
        yield f"ws://127.0.0.1:{web.port}"


@pytest.fixture
def user():
    forget_counts()
    return make_user()


@pytest.fixture
def token(user):
    return ApiToken.issue(user, "test", timezone.now())[1]


def session_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value


def test_a_socket_sends_the_snapshot_then_the_events_after_it(address, token):
    with opened(address, "/ws/count?after=1", token) as ws:
        assert receive(ws) == {"type": "snapshot", "last_id": 1, "data": {"user": "alice"}}
        assert [receive(ws)["id"] for _ in range(2)] == [2, 3]


def test_a_silent_socket_sends_heartbeats(address, token):
    with opened(address, "/ws/count?after=3", token) as ws:
        receive(ws)
        assert [frame(ws) for _ in range(2)] == [{"type": "heartbeat"}] * 2


def test_a_cookie_or_a_ticket_opens_a_socket(address, user):
    with opened(address, "/ws/count", headers={"Cookie": f"sessionid={session_of(user)}"}) as ws:
        assert receive(ws)["data"] == {"user": "alice"}
    ticket = client_of(user).post("/api/ws-ticket").json()
    assert ticket["expires_in"] == 30
    with opened(address, f"/ws/count?ticket={ticket['ticket']}") as ws:
        assert receive(ws)["data"] == {"user": "alice"}
    # Once.
    with opened(address, f"/ws/count?ticket={ticket['ticket']}") as ws:
        assert code_of(ws) == 4401


@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Token x"}, {"Authorization": "Bearer x"}, {"Cookie": "sessionid=nonsense"}],
)
def test_a_socket_without_credentials_closes_with_4401_and_sends_nothing(address, user, headers):
    with opened(address, "/ws/count", headers=headers) as ws:
        with pytest.raises(ConnectionClosed) as closed:
            ws.recv(timeout=60)
        assert closed.value.rcvd
        assert closed.value.rcvd.code == 4401


def test_an_invalid_token_is_refused_despite_a_valid_cookie(address, user):
    headers = {"Cookie": f"sessionid={session_of(user)}", "Authorization": "Token dure_" + "x" * 43}
    with opened(address, "/ws/count", headers=headers) as ws:
        assert code_of(ws) == 4401


def test_an_unknown_address_closes_with_4404(address, token):
    for path in ("/ws/nothing", "/", "/ws/count/"):
        with opened(address, path, token) as ws:
            assert code_of(ws) == 4404


def test_our_own_page_gets_a_handshake(address, user):
    cookie, ours = {"Cookie": f"sessionid={session_of(user)}"}, address.replace("ws", "http")
    with opened(address, "/ws/count", headers=cookie, origin=ours) as ws:
        assert receive(ws)["type"] == "snapshot"


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
def test_a_frame_that_is_no_small_json_object_closes_the_socket(address, token, frame, code):
    with opened(address, "/ws/count", token) as ws:
        receive(ws)
        ws.send(frame)
        assert code_of(ws) == code


def test_a_client_that_sends_too_many_frames_is_closed_with_1008(address, token):
    with opened(address, "/ws/count", token) as ws:
        receive(ws)
        assert code_of(ws, send="{}") == 1008


def test_a_client_that_reads_nothing_is_closed_with_4408(address, token):
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    host, port = address.removeprefix("ws://").split(":")
    raw.connect((host, int(port)))
    # The library reads ahead until its queue is full, and then stops as a hanging client would.
    with opened(address, "/ws/flood", token, sock=raw, max_queue=1) as ws:
        receive(ws)
        assert code_of_silent_client(ws, 1.2) == 4408


def test_a_revoked_token_closes_its_sockets(address, user, token):
    with opened(address, "/ws/count?after=3", token) as ws:
        receive(ws)
        ApiToken.objects.update(revoked_at=timezone.now())
        assert code_of(ws) == 4401


def test_a_sign_out_closes_the_sockets_of_the_session_and_of_its_tickets(address, user):
    client = Client()
    client.force_login(user)
    key = client.cookies["sessionid"].value
    ticket = client.post("/api/ws-ticket").json()["ticket"]
    with (
        opened(address, "/ws/count?after=3", headers={"Cookie": f"sessionid={key}"}) as first,
        opened(address, f"/ws/count?after=3&ticket={ticket}") as second,
    ):
        receive(first), receive(second)
        client.logout()
        assert (code_of(first), code_of(second)) == (4401, 4401)


def test_a_stopping_server_closes_with_1012(tmp_path, token):
    with running(tmp_path, DATABASE_URL=database_url()) as web:
        with opened(f"ws://127.0.0.1:{web.port}", "/ws/count", token) as ws:
            receive(ws)
            web.process.send_signal(signal.SIGTERM)
            assert code_of(ws) == 1012
        assert web.process.wait(timeout=60) == 0
        assert "Traceback" not in web.log.read_text()


def test_a_ticket_is_redeemed_once_in_time_for_an_active_user(user):
    now = timezone.now()

    def redeemed(ticket: str, at=now) -> bool:
        return credentials.redeem_ticket(ticket, at) is not None

    first, late, disabled = (credentials.issue_ticket(user, now) for _ in range(3))
    assert redeemed(first)
    assert not redeemed(first)
    assert not redeemed(late, now + timedelta(seconds=30))
    User.objects.update(is_active=False)
    assert not redeemed(disabled)
    assert not redeemed("nonsense")
    assert first not in str(SocketTicket.objects.values())


def test_expired_tickets_are_deleted_when_a_new_one_is_issued(user):
    now = timezone.now()
    for _ in range(3):
        credentials.issue_ticket(user, now)
    credentials.issue_ticket(user, now + timedelta(minutes=1))
    assert SocketTicket.objects.count() == 1


def test_credentials_are_valid_until_their_token_session_or_user_ends(user, token):
    now = timezone.now()
    with_token, with_session = credentials.from_token(token, now), credentials.from_session(session_of(user))
    assert with_token
    assert with_session
    assert credentials.are_valid(with_token, now)
    assert credentials.are_valid(with_session, now)
    user.set_password("another one")
    user.save()
    assert not credentials.are_valid(with_session, now)
    assert credentials.are_valid(with_token, now)
    User.objects.update(is_active=False)
    assert not credentials.are_valid(with_token, now)
