"""The user of a socket, and whether their token or session is still valid while it is open.

A ticket opens one socket within 30 seconds, from a page that can send neither our cookie nor a header.
Tickets are rows in PostgreSQL, so that a used ticket is used for every process, and Redis is not needed.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import import_module

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import User
from django.http import HttpRequest

from jobs.api.framework.authentication import find_token
from jobs.models.access import ApiToken, SocketTicket, digest_of

TICKET_LIFETIME = timedelta(seconds=30)
EXPIRED_TICKETS_PAGE = 100


@dataclass(frozen=True)
class Credentials:
    """A user, and the token or session that authenticated them."""

    user: User
    token: int | None = None
    session: str = ""


def from_token(plain: str, now: datetime) -> Credentials | None:
    token = find_token(plain, now)
    return Credentials(token.user, token=token.pk) if token else None


def from_session(key: str) -> Credentials | None:
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    # Django's own function: it also checks that the password has not changed since.
    user = get_user(request)
    return Credentials(user, session=key) if isinstance(user, User) and user.is_active else None


def are_valid(credentials: Credentials, now: datetime) -> bool:
    """False after the token was revoked, the session ended, or the user was disabled."""
    if credentials.session:
        current = from_session(credentials.session)
        return current is not None and current.user.pk == credentials.user.pk
    if credentials.token is not None:
        token = ApiToken.objects.select_related("user").filter(pk=credentials.token).first()
        return token is not None and token.is_alive(now) and token.user.is_active
    return User.objects.filter(pk=credentials.user.pk, is_active=True).exists()


def issue_ticket(user: User, now: datetime, *, token: ApiToken | None = None, session: str = "") -> str:
    """The plain ticket; the row keeps its digest. Also deletes some expired tickets."""
    expired = SocketTicket.objects.filter(expires_at__lt=now).values_list("pk", flat=True)
    SocketTicket.objects.filter(pk__in=list(expired[:EXPIRED_TICKETS_PAGE])).delete()
    ticket = secrets.token_urlsafe(32)
    SocketTicket.objects.create(
        digest=digest_of(ticket),
        user=user,
        token=token,
        session_key=session,
        expires_at=now + TICKET_LIFETIME,
    )
    return ticket


def redeem_ticket(ticket: str, now: datetime) -> Credentials | None:
    """The credentials that the ticket was issued for; None the second time."""
    row = SocketTicket.objects.select_related("user").filter(pk=digest_of(ticket)).first()
    if row is None:
        return None
    # The process that deletes the row has used it; of two at once one deletes nothing.
    deleted, _ = SocketTicket.objects.filter(pk=row.pk).delete()
    if deleted == 0 or row.expires_at <= now or not row.user.is_active:
        return None
    return Credentials(row.user, token=row.token_id, session=row.session_key)
