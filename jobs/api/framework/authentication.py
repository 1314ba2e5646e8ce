"""Authentication by `Authorization: Token …`, or by the session cookie with a CSRF token."""

import re
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone
from rest_framework import authentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, PermissionDenied
from rest_framework.request import Request

from jobs.actors import identify_by_token
from jobs.api.framework.problem_details import Problem
from jobs.models.access import TOKEN_PREFIX, ApiToken, digest_of

LAST_USED_INTERVAL = timedelta(minutes=1)
_TOKEN = re.compile(re.escape(TOKEN_PREFIX) + r"[A-Za-z0-9_-]{16,128}")


def find_token(plain: str, now: datetime) -> ApiToken | None:
    """The valid token of an active user with this plain text. Records its use."""
    if not _TOKEN.fullmatch(plain):
        return None
    token = ApiToken.objects.select_related("user").filter(digest=digest_of(plain)).first()
    if token is None or not token.is_alive(now) or not token.user.is_active:
        return None
    if token.last_used_at is None or token.last_used_at <= now - LAST_USED_INTERVAL:
        # Guarded, so that only one of many concurrent requests writes.
        stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - LAST_USED_INTERVAL)
        ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=now)
    return token


def user_of(request: Request) -> User:
    """The authenticated user."""
    if not isinstance(request.user, User):
        raise NotAuthenticated
    return request.user


class TokenAuthentication(authentication.BaseAuthentication):
    keyword = "Token"

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _, plain = request.headers.get("Authorization", "").strip().partition(" ")
        if scheme.lower() != self.keyword.lower():
            return None
        token = find_token(plain.strip(), timezone.now())
        if token is None:
            # One answer for all cases, so that it does not reveal which tokens exist.
            raise AuthenticationFailed("The token is not valid.")
        identify_by_token(token.user, token.name)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return f'{self.keyword} realm="api"'


class SessionAuthentication(authentication.SessionAuthentication):
    def enforce_csrf(self, request: Request) -> None:
        try:
            super().enforce_csrf(request)
        except PermissionDenied as error:
            raise Problem(403, "csrf_failed", str(error.detail)) from None
