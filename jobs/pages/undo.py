"""Offers to restore what the user has deleted on a page."""

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse

from jobs.models import Deletion


def offer_undo(request: HttpRequest, text: str, deletion: Deletion | None) -> None:
    """The notice after a deletion, with a button that undoes it."""
    address = reverse("scheduler:undo", args=[deletion.id]) if deletion else ""
    messages.success(request, text, extra_tags=address)
