"""Records what people do to an office, or to their schedules: the verbs call it in their transaction."""

from datetime import datetime
from uuid import UUID

from django.utils import timezone

from jobs.models import Activity
from jobs.states import Act


def record(office: UUID, actor: str, act: Act, **details: object) -> None:
    Activity.objects.create(office_id=office, actor=actor, act=act, details=details, at=timezone.now())


def record_of_owner(owner: int | None, actor: str, act: Act, **details: object) -> None:
    """For the log of a user instead of an office's; rows without an owner are in no log."""
    if owner is not None:
        Activity.objects.create(owner_id=owner, actor=actor, act=act, details=details, at=timezone.now())


def delete_old(before: datetime, limit: int) -> int:
    """Delete at most `limit` rows from before then."""
    old = Activity.objects.filter(at__lt=before).order_by("at").values_list("pk", flat=True)
    return Activity.objects.filter(pk__in=list(old[:limit])).delete()[0]
