"""Records what people do, for the log of an office or of a user: the verbs call it in their transaction."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.utils import timezone

from jobs import actors
from jobs.models import Activity
from jobs.states import Act


def record(
    act: Act,
    *,
    office: UUID | None = None,
    owner: int | None = None,
    actor: str | None = None,
    **details: Any,
) -> None:
    """In the log of the office; without one in that of the owner, and without both in none.

    Without `actor` it is who acts in this thread, and nothing is recorded if that is the system itself.
    """
    here = actors.current()
    if actor is None:
        if here is None:
            return
        actor = here.name
    if office is None and owner is None:
        return
    Activity.objects.create(
        office_id=office,
        owner_id=owner if office is None else None,
        actor=actor,
        surface=here.surface if here else "",
        token=here.token if here else "",
        act=act,
        details=details,
        at=timezone.now(),
    )


def values_of(row: Any, fields: Iterable[str]) -> dict[str, Any]:
    """The values of these fields, to compare after a change."""
    return {field: getattr(row, field) for field in fields}


def changed_fields(row: Any, before: dict[str, Any]) -> list[str]:
    """The names of the fields that have changed since; values may hold a secret."""
    return sorted(field for field, value in before.items() if getattr(row, field) != value)
