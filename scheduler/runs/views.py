"""Saves and deletes the named filters of a user."""

from uuid import UUID

from django.contrib.auth.models import User

from jobs.errors import Refused
from scheduler.models import SavedView

MOST = 50


def save(user: User, name: str, query: str) -> SavedView:
    """Keep the filter under this name; a view of the same name is replaced."""
    others = SavedView.objects.filter(user=user).exclude(name=name)
    if others.count() >= MOST:
        raise Refused("too_many_views", limit=MOST)
    view, _ = SavedView.objects.update_or_create(user=user, name=name, defaults={"query": query})
    return view


def delete(user: User, view: UUID) -> bool:
    """Whether the user had this view."""
    return SavedView.objects.filter(user=user, pk=view).delete()[0] > 0
