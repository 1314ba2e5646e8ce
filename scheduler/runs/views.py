"""Saves, deletes and restores the named filters of a user."""

from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from jobs import deletions
from jobs.errors import Refused
from jobs.models import Deletion
from jobs.states import DeletedKind
from scheduler.models import SavedView

MOST = 50


def save(user: User, name: str, query: str) -> SavedView:
    """Keep the filter under this name; a view of the same name is replaced."""
    _check_count(SavedView.objects.filter(user=user).exclude(name=name))
    view, _ = SavedView.objects.update_or_create(user=user, name=name, defaults={"query": query})
    return view


def delete(user: User, view: UUID, *, now: datetime) -> Deletion | None:
    """None if the user has no such view."""
    with transaction.atomic():
        row = SavedView.objects.select_for_update().filter(user=user, pk=view).first()
        if row is None:
            return None
        SavedView.objects.filter(pk=row.pk).delete()
        return deletions.record(DeletedKind.VIEW, row, user, now)


def restore(deletion: Deletion, *, now: datetime) -> SavedView:
    """Undo a deletion; raises Refused if there are too many views, or one of that name, meanwhile."""
    with deletions.claim(deletion, now):
        _check_count(SavedView.objects.filter(user=deletion.user_id))
        view = SavedView(**deletions.values_of(deletion, SavedView))
        view.save(force_insert=True)
    return view


def _check_count(others: QuerySet[SavedView]) -> None:
    if others.count() >= MOST:
        raise Refused("too_many_views", limit=MOST)
