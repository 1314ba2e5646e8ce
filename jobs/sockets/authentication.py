"""ASGI middleware for sockets: refuses pages of other sites, then authenticates the user.

The same-origin policy does not cover sockets, and the browser sends our cookie for any site's page; the
Origin header tells the pages apart. Programs send none, which Channels' AllowedHostsOriginValidator refuses.
"""

import logging
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.conf import settings
from django.http import parse_cookie
from django.http.request import split_domain_port, validate_host
from django.utils import timezone

from jobs.sockets import credentials
from jobs.sockets.base import DATABASE_ERRORS, Close
from jobs.sockets.database import in_database

log = logging.getLogger(__name__)

DEFAULT_PORTS = {"http": "80", "https": "443"}


class OwnPagesOnly:
    """Refuses the handshake (403) for a foreign Origin, or a Host that is not ours."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        headers = headers_of(scope)
        if is_own_page(headers.get("host", ""), headers.get("origin")):
            await self.app(scope, receive, send)
            return
        await receive()
        await send({"type": "websocket.close"})


class Authentication:
    """Puts `credentials` (or None) and `query` into the scope. It refuses nobody itself: a close code reaches
    the client only after the handshake, so the socket sends 4401."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        query = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True))
        try:
            user = await in_database(authenticate, headers_of(scope), query.pop("ticket", None))
        except DATABASE_ERRORS as error:
            log.warning("A socket is refused because the database does not answer: %s", error)
            await receive()
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.close", "code": int(Close.TRY_AGAIN)})
            return
        await self.app({**scope, "credentials": user, "query": query}, receive, send)


def authenticate(headers: dict[str, str], ticket: str | None) -> credentials.Credentials | None:
    """An explicit token or ticket counts alone: a valid cookie does not make up for an invalid one."""
    now = timezone.now()
    scheme, _, plain = headers.get("authorization", "").strip().partition(" ")
    if scheme.lower() == "token":
        return credentials.from_token(plain.strip(), now)
    if ticket is not None:
        return credentials.redeem_ticket(ticket, now)
    key = parse_cookie(headers.get("cookie", "")).get(settings.SESSION_COOKIE_NAME)
    return credentials.from_session(key) if key else None


def is_own_page(host: str, origin: str | None) -> bool:
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    if origin is None or origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    try:
        parts = urlsplit(origin)
        page = _with_port(parts.netloc, parts.scheme)
    except ValueError:
        return False
    # The same host and port; only our proxy knows which of the two schemes it is.
    return parts.scheme in DEFAULT_PORTS and page == _with_port(host, parts.scheme)


def headers_of(scope: dict[str, Any]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _with_port(netloc: str, scheme: str) -> tuple[str, str]:
    domain, port = split_domain_port(netloc)
    return domain, port or DEFAULT_PORTS.get(scheme, "")
