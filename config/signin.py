"""Limits the attempts to sign in, on every page that has a form for it."""

from collections.abc import Callable
from functools import wraps
from math import ceil
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _

from jobs.api.framework import throttling

View = Callable[..., HttpResponseBase]


def too_many(wait: float) -> HttpResponse:
    """The response to an attempt that was not made."""
    seconds = max(1, ceil(wait))
    text = _("Too many attempts to sign in. Please wait %(seconds)s seconds.") % {"seconds": seconds}
    headers = {"Retry-After": str(seconds)}
    return HttpResponse(f"{text}\n", status=429, content_type="text/plain", headers=headers)


def throttle(view: View) -> View:
    """Decorates a view that takes `username` and a password by POST: 429 after too many attempts."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method != "POST":
            return view(request, *args, **kwargs)
        username = request.POST.get("username", "")
        # Before the password is checked, so that attempts at the same moment count as well.
        wait = throttling.count_login(request, username)
        if wait is not None:
            return too_many(wait)
        response = view(request, *args, **kwargs)
        if request.user.is_authenticated:
            throttling.reset_login(username)
        return response

    return wrapper
