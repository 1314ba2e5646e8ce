"""Calls the verb of a button, whose page shows what came of it."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest

from jobs.display import Text
from jobs.errors import Refused


def call_verb(request: HttpRequest, verb: Callable[[], object], done: Text) -> bool:
    """Show what the verb refuses, or else that it is done; whether it is."""
    try:
        verb()
    except Refused as refused:
        messages.warning(request, str(refused.text))
        return False
    messages.success(request, str(done))
    return True
