"""Lets the reader in: every page is somebody's, and an office is entered by the rules of tenancy."""

from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from jobs.access import Seat, enter
from jobs.states import MemberRole


def current_user(request: HttpRequest) -> User:
    """Who asks, where `login_required` has let nobody else in."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def office_access(request: HttpRequest, office_id: UUID, needed: str = MemberRole.VIEWER) -> Seat:
    """404 for who is nobody in the office, 403 for who may see but not do this."""
    return enter(current_user(request), office_id, needed)


def can_operate(found: Seat) -> bool:
    return found.may(MemberRole.OPERATOR)
