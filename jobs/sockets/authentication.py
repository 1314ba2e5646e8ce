"""Decides who may open a socket at all: no foreign page, and then whoever the credentials name.

A socket is not bound by the same-origin policy, and the browser sends our cookie along for anybody's
page; the Origin header is what tells them apart. Programs send none.
"""

import logging
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http.request import split_domain_port, validate_host
from django.utils import timezone

from jobs.sockets import tickets
from jobs.sockets.base import Close
from jobs.sockets.credentials import Credentials, by_session, by_token
from jobs.sockets.database import in_database

log = logging.getLogger(__name__)

DEFAULT_PORTS = {"http": "80", "https": "443"}


class OurPagesOnly:
    """ASGI middleware: a foreign Origin, or a Host that is not ours, never gets a handshake (403)."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        headers = headers_of(scope)
        if is_ours(headers.get("host", ""), headers.get("origin")):
            await self.app(scope, receive, send)
            return
        await receive()
        await send({"type": "websocket.close"})


class Authentication:
    """ASGI middleware: puts `credentials` (or None) and `query` into the scope. Refuses nobody itself:
    a close code reaches the client only after the handshake, so the socket says 4401."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        query = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True))
        try:
            found = await in_database(find, headers_of(scope), query.pop("ticket", None))
        except (OperationalError, InterfaceError) as error:
            log.warning("A socket is refused because the database does not answer: %s", error)
            await receive()
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.close", "code": int(Close.TRY_AGAIN)})
            return
        await self.app({**scope, "credentials": found, "query": query}, receive, send)


def find(headers: dict[str, str], ticket: str | None) -> Credentials | None:
    """What was given on purpose counts alone: a bad token is not made up for by a good cookie."""
    now = timezone.now()
    scheme, _, plain = headers.get("authorization", "").strip().partition(" ")
    if scheme.lower() == "token":
        return by_token(plain.strip(), now)
    if ticket is not None:
        return tickets.redeem(ticket, now)
    key = _cookies(headers.get("cookie", "")).get(settings.SESSION_COOKIE_NAME)
    return by_session(key) if key else None


def is_ours(host: str, origin: str | None) -> bool:
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    if origin is None or origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    try:
        parts = urlsplit(origin)
        theirs = _with_port(parts.netloc, parts.scheme)
    except ValueError:
        return False
    # The same host and port as this page came from; which of the two schemes, our proxy knows.
    return parts.scheme in DEFAULT_PORTS and theirs == _with_port(host, parts.scheme)


def headers_of(scope: dict[str, Any]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _with_port(netloc: str, scheme: str) -> tuple[str, str]:
    domain, port = split_domain_port(netloc)
    return domain, port or DEFAULT_PORTS.get(scheme, "")


def _cookies(header: str) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(header).items()}
    except CookieError:
        return {}
