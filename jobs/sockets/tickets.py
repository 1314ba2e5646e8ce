"""Tickets: what a browser on a page without our cookie opens a socket with. One use, 30 seconds.

They lie in PostgreSQL, so that a used one is used everywhere at once and Redis is not needed to get in.
"""

import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import User

from jobs.models.access import ApiToken, SocketTicket, digest_of
from jobs.sockets.credentials import Credentials

LIFETIME = timedelta(seconds=30)
SWEPT_AT_ONCE = 100


def issue(user: User, now: datetime, *, token: ApiToken | None = None, session: str = "") -> str:
    """The plain ticket; the row keeps its digest. Sweeps some expired ones on the way."""
    expired = SocketTicket.objects.filter(expires_at__lt=now).values_list("pk", flat=True)
    SocketTicket.objects.filter(pk__in=list(expired[:SWEPT_AT_ONCE])).delete()
    ticket = secrets.token_urlsafe(32)
    SocketTicket.objects.create(
        digest=digest_of(ticket), user=user, token=token, session_key=session, expires_at=now + LIFETIME
    )
    return ticket


def redeem(ticket: str, now: datetime) -> Credentials | None:
    """Who the ticket was given to, once."""
    row = SocketTicket.objects.select_related("user").filter(pk=digest_of(ticket)).first()
    if row is None:
        return None
    # Whoever deletes the row has used it; of two at once one deletes none.
    deleted, _ = SocketTicket.objects.filter(pk=row.pk).delete()
    if deleted == 0 or row.expires_at <= now or not row.user.is_active:
        return None
    return Credentials(row.user, token=row.token_id, session=row.session_key)
