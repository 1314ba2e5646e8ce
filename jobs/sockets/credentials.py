"""Who is at the other end of a socket, and whether that still holds while it is open."""

from dataclasses import dataclass
from datetime import datetime
from importlib import import_module

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import User
from django.http import HttpRequest

from jobs.api.framework.authentication import find_token
from jobs.models.access import ApiToken


@dataclass(frozen=True)
class Credentials:
    """A user, and the token or session that let them in."""

    user: User
    token: int | None = None
    session: str = ""


def by_token(plain: str, now: datetime) -> Credentials | None:
    token = find_token(plain, now)
    return Credentials(token.user, token=token.pk) if token else None


def by_session(key: str) -> Credentials | None:
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    # Django's own way: it also checks that the password has not changed since.
    user = get_user(request)
    return Credentials(user, session=key) if isinstance(user, User) and user.is_active else None


def still_hold(credentials: Credentials, now: datetime) -> bool:
    """A revoked token, a sign-out and a disabled user end the sockets they opened."""
    if credentials.session:
        found = by_session(credentials.session)
        return found is not None and found.user.pk == credentials.user.pk
    if credentials.token is not None:
        token = ApiToken.objects.select_related("user").filter(pk=credentials.token).first()
        return token is not None and token.is_alive(now) and token.user.is_active
    return User.objects.filter(pk=credentials.user.pk, is_active=True).exists()
