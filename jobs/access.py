"""Who may see and do what in an office: asked by views, pages and sockets, answered here only.

A member sees an office according to their role; for everybody else it does not exist. Staff may look
into every office, as a viewer does, and a superuser may do there what its owner may.
"""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import Http404

from jobs.models import Membership, Office
from jobs.states import MemberRole

RANK: Final[dict[str, int]] = {MemberRole.VIEWER: 0, MemberRole.OPERATOR: 1, MemberRole.OWNER: 2}


@dataclass(frozen=True)
class Seat:
    """A user's place in one office."""

    office: Office
    role: str

    def may(self, needed: str) -> bool:
        return RANK[self.role] >= RANK[needed]


def seat_of(user: User, office_id: UUID | str) -> Seat | None:
    """The user's place in that office; None where there is none for them."""
    role = role_of_staff(user)
    member = Membership.objects.select_related("office").filter(office_id=office_id, user=user).first()
    if member is not None:
        return Seat(member.office, higher(member.role, role))
    if role is None:
        return None
    office = Office.objects.filter(pk=office_id).first()
    return Seat(office, role) if office is not None else None


def enter(user: User, office_id: UUID | str, needed: str = MemberRole.VIEWER) -> Seat:
    """The user's place in that office: 404 for who has none, 403 for who may see but not do this."""
    seat = seat_of(user, office_id)
    if seat is None:
        raise Http404
    if not seat.may(needed):
        raise PermissionDenied(f"This needs the role {needed} in the office; yours is {seat.role}.")
    return seat


def offices_of(user: User) -> QuerySet[Office]:
    """The offices the user may see, each with the role of their membership, if any, as `member_role`."""
    mine = Membership.objects.filter(user=user)
    found = Office.objects.annotate(
        member_role=Subquery(mine.filter(office=OuterRef("pk")).values("role")[:1])
    )
    return found if role_of_staff(user) else found.filter(pk__in=mine.values("office_id"))


def role_of_staff(user: User) -> str | None:
    if user.is_superuser:
        return MemberRole.OWNER
    return MemberRole.VIEWER if user.is_staff else None


def higher(role: str, other: str | None) -> str:
    return role if other is None or RANK[role] >= RANK[other] else other
