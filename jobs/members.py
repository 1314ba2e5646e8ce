"""The members of an office: who they are and their roles. An office always has an owner."""

from django.contrib.auth.models import User
from django.db import transaction

from jobs import activity
from jobs.errors import Conflict, ErrorText, Invalid
from jobs.models import Membership, Office
from jobs.sql import call, statements
from jobs.states import Act, MemberRole


def set_role(office: Office, username: str, role: str) -> tuple[Membership, bool]:
    """Add a member, or change a member's role; whether the member is new. Raises Invalid and Conflict."""
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise Invalid(errors={"username": [ErrorText("unknown_user")]})
    with transaction.atomic():
        call.rows(statements.LOCK_OFFICE, [office.id])
        member, is_new = office.memberships.update_or_create(user=user, defaults={"role": role})
        _refuse_ownerless(office)
        act = Act.MEMBER_ADDED if is_new else Act.MEMBER_CHANGED
        activity.record(act, office=office.pk, username=username, role=role)
    return member, is_new


def remove(office: Office, username: str) -> bool:
    """Remove a member; False if there is none of that name. Raises Conflict for the last owner."""
    with transaction.atomic():
        call.rows(statements.LOCK_OFFICE, [office.id])
        deleted, _ = office.memberships.filter(user__username=username).delete()
        if deleted:
            _refuse_ownerless(office)
            activity.record(Act.MEMBER_REMOVED, office=office.pk, username=username)
    return deleted > 0


def _refuse_ownerless(office: Office) -> None:
    """Refuse an office without an owner, in the transaction of the change."""
    if not office.memberships.filter(role=MemberRole.OWNER).exists():
        raise Conflict("last_owner")
