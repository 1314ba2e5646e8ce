"""Records what people do to an office: the verbs call it in their transaction."""

from datetime import datetime
from uuid import UUID

from django.utils import timezone

from jobs.models import Activity
from jobs.states import Act


def record(office: UUID, actor: str, act: Act, **details: object) -> None:
    Activity.objects.create(office_id=office, actor=actor, act=act, details=details, at=timezone.now())


def delete_old(before: datetime, limit: int) -> int:
    """Delete at most `limit` rows from before then."""
    old = Activity.objects.filter(at__lt=before).order_by("at").values_list("pk", flat=True)
    return Activity.objects.filter(pk__in=list(old[:limit])).delete()[0]
