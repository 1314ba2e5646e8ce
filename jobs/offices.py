"""Creates an office, and changes its name and notification addresses. office_config.py has its limits."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from jobs import activity
from jobs.models import Membership, Office
from jobs.notifications import creation
from jobs.states import Act, MemberRole

MOST_ADDRESSES = 20


def create(owner: User, name: str, **settings: Any) -> Office:
    """A new office with its first owner."""
    with transaction.atomic():
        office = Office.objects.create(name=name, **settings)
        Membership.objects.create(office=office, user=owner, role=MemberRole.OWNER)
        activity.record(Act.OFFICE_CREATED, office=office.id, actor=owner.get_username())
    return office


def change(office: Office, fields: Mapping[str, Any]) -> None:
    """Change these columns only: the engine and the config write the others."""
    for name, value in fields.items():
        setattr(office, name, value)
    # New addresses are not notified of past events.
    with creation.events_drained(office.pk):
        office.save(update_fields=list(fields))
        activity.record(Act.OFFICE_CHANGED, office=office.pk, **fields)
