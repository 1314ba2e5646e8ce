"""Every socket of the system, with credentials that are missing, foreign, used or from another site."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from config.asgi import socket_patterns
from jobs.models import ApiToken
from tests.integration.rest_support import client_of, forget_counts
from tests.integration.security.operations import PARAMETER
from tests.integration.security.tenants import Tenant
from tests.integration.web_process import Web, running
from tests.workers import database_url

pytestmark = pytest.mark.django_db(transaction=True)

OPENED = 0


@pytest.fixture(scope="module")
def web(tmp_path_factory, django_db_setup) -> Iterator[Web]:
    with running(tmp_path_factory.mktemp("web"), "config.web", DATABASE_URL=database_url()) as web:
        yield web


@pytest.fixture(autouse=True)
def no_counts() -> None:
    forget_counts()


def paths(tenant: Tenant) -> list[str]:
    """The path of each socket, with the ids of a tenant. The last pattern is for unknown paths."""
    routes = [
        str(pattern.pattern).replace("<uuid:", "{").replace("<int:", "{").replace(">", "}")
        for pattern in socket_patterns[:-1]
    ]
    return ["/" + tenant.fill(route, PARAMETER.findall(route)) for route in routes]


def close_code(web: Web, path: str, headers: dict[str, str] | None = None, **options: Any) -> int:
    """The code that the server closes the socket with; OPENED if it sends the snapshot."""
    address = f"ws://127.0.0.1:{web.port}{path}"
    with connect(address, additional_headers=headers or {}, open_timeout=60, **options) as ws:
        try:
            ws.recv(timeout=60)
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else -1
        return OPENED


def token(user: User) -> dict[str, str]:
    return {"Authorization": f"Token {ApiToken.issue(user, 'test', timezone.now())[1]}"}


def cookie(user: User) -> dict[str, str]:
    client = Client()
    client.force_login(user)
    return {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}


def ticket(user: User) -> str:
    return str(client_of(user).post("/api/ws-ticket").json()["ticket"])


def test_each_socket_opens_for_its_owner_and_for_nobody_else(web, ours, theirs):
    stranger, owner = token(ours.owner), token(theirs.owner)
    for path in paths(theirs):
        # The socket of all of one's own exports names no object.
        foreign = 4404 if any(character.isdigit() for character in path) else OPENED
        assert close_code(web, path, owner) == OPENED, path
        assert close_code(web, path, stranger) == foreign, path
        assert close_code(web, path) == 4401, path
        assert close_code(web, path, {"Authorization": "Token dure_" + "x" * 43}) == 4401, path


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1.evil.example", "file://"]
)
def test_no_socket_opens_for_a_page_of_another_site(web, ours, origin):
    """Whatever credentials the browser adds, and whatever the page knows."""
    signed_in = cookie(ours.owner)
    for path in paths(ours):
        for headers, query in (
            (signed_in, ""),
            (token(ours.owner), ""),
            ({}, f"?ticket={ticket(ours.owner)}"),
        ):
            with pytest.raises(InvalidStatus) as refused:
                close_code(web, path + query, headers, origin=origin)
            assert refused.value.response.status_code == 403, (path, headers)


def test_a_client_that_is_no_page_may_use_a_cookie_without_an_origin(web, ours):
    for path in paths(ours):
        assert close_code(web, path, cookie(ours.owner)) == OPENED


def test_a_ticket_opens_one_socket_once_and_only_where_its_user_may(web, ours, theirs):
    for path in paths(ours):
        used = ticket(ours.owner)
        assert close_code(web, f"{path}?ticket={used}") == OPENED
        assert close_code(web, f"{path}?ticket={used}") == 4401
        # A used ticket does not weaken the check of other credentials beside it.
        assert close_code(web, f"{path}?ticket={used}", {"Authorization": "Token wrong"}) == 4401
    foreign = next(path for path in paths(theirs) if any(character.isdigit() for character in path))
    assert close_code(web, f"{foreign}?ticket={ticket(ours.owner)}") == 4404


@pytest.mark.parametrize(
    "query", ["after=-1", "after=x", "after=" + "9" * 40, "after=%00", "ticket=%ff", "x=1", "after=1&after=2"]
)
def test_an_odd_query_closes_the_socket_or_is_ignored_and_the_server_lives(web, ours, query):
    for path in paths(ours):
        assert close_code(web, f"{path}?{query}", token(ours.owner)) in (OPENED, 4400, 4401, 4404, 1007, 1008)
    assert web.alive()
    assert "Traceback" not in web.log.read_text()
