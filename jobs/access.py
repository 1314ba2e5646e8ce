"""The permissions of users in offices, for the API, the pages and the sockets.

A member's role decides; for other users the office does not exist. Staff have a viewer's access to every
office, a superuser an owner's.
"""

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import Http404

from jobs.models import Membership, Office
from jobs.states import MemberRole

RANK: Final[dict[str, int]] = {MemberRole.VIEWER: 0, MemberRole.OPERATOR: 1, MemberRole.OWNER: 2}


@dataclass(frozen=True)
class Access:
    """A user's access to one office."""

    office: Office
    role: str

    def may(self, role: str) -> bool:
        """Whether the user may do what this role may."""
        return RANK[self.role] >= RANK[role]


def access_for(user: User, office_id: UUID | str) -> Access | None:
    """The user's access to the office, or None."""
    role = role_of_staff(user)
    member = Membership.objects.select_related("office").filter(office_id=office_id, user=user).first()
    if member is not None:
        return Access(member.office, max_role(member.role, role))
    if role is None:
        return None
    office = Office.objects.filter(pk=office_id).first()
    return Access(office, role) if office is not None else None


def require_access(user: User, office_id: UUID | str, role: str = MemberRole.VIEWER) -> Access:
    """The user's access: 404 without any, 403 with less than this role."""
    access = access_for(user, office_id)
    if access is None:
        raise Http404
    if not access.may(role):
        raise PermissionDenied(f"This needs the role {role} in the office; yours is {access.role}.")
    return access


def offices_of(user: User) -> QuerySet[Office]:
    """The offices the user may see, each with the role of the membership, if any, as `member_role`."""
    memberships = Membership.objects.filter(user=user)
    offices = Office.objects.annotate(
        member_role=Subquery(memberships.filter(office=OuterRef("pk")).values("role")[:1])
    )
    return offices if role_of_staff(user) else offices.filter(pk__in=memberships.values("office_id"))


def office_ids_of(user: User) -> QuerySet[Any, UUID]:
    """The ids of the same offices."""
    if role_of_staff(user):
        return Office.objects.order_by().values_list("pk", flat=True)
    return Membership.objects.filter(user=user).values_list("office_id", flat=True)


def operated_offices(user: User) -> QuerySet[Office]:
    """The offices in which the user may act on jobs."""
    if user.is_superuser:
        return Office.objects.all()
    roles = [role for role in RANK if RANK[role] >= RANK[MemberRole.OPERATOR]]
    memberships = Membership.objects.filter(user=user, role__in=roles)
    return Office.objects.filter(pk__in=memberships.values("office_id"))


def role_of_staff(user: User) -> str | None:
    if user.is_superuser:
        return MemberRole.OWNER
    return MemberRole.VIEWER if user.is_staff else None


def max_role(role: str, other: str | None) -> str:
    return role if other is None or RANK[role] >= RANK[other] else other
