"""The user of a page, and what they may do in its office."""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from jobs.access import Access, require_access
from jobs.states import MemberRole


def current_user(request: HttpRequest) -> User:
    """The user of a page. Pages require a login unless config/urls.py says that one does not."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def staff_user(request: HttpRequest) -> User:
    """The user of an act that staff alone may do; 403 for others."""
    user = current_user(request)
    if not user.is_staff:
        raise PermissionDenied
    return user


def actor_of(request: HttpRequest) -> str:
    return current_user(request).get_username()


def office_access(request: HttpRequest, office_id: UUID, needed: str = MemberRole.VIEWER) -> Access:
    """404 for who has no role in the office, 403 for who has a lower one."""
    return require_access(current_user(request), office_id, needed)


def office_context(access: Access, tab: str = "") -> dict[str, Any]:
    """What every page of an office has: the office, the tab of its head, and what the user may do."""
    return {
        "section": "offices",
        "tab": tab,
        "office": access.office,
        "can_operate": access.may(MemberRole.OPERATOR),
        "can_configure": access.may(MemberRole.OWNER),
    }
