"""The theme and the time zone that a browser's user has chosen, kept in cookies."""

from collections.abc import Callable
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from scheduler.schedules import timezones

THEMES = ("light", "dark")
THEME_COOKIE, ZONE_COOKIE = "theme", "zone"
YEAR = 365 * 24 * 3600


class TimeZoneMiddleware:
    """Shows the times of pages in the zone of the cookie. The API keeps the installation's zone."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        zone = request.COOKIES.get(ZONE_COOKIE, "")
        if zone not in timezones.names() or request.path.startswith("/api/"):
            return self.get_response(request)
        with timezone.override(ZoneInfo(zone)):
            return self.get_response(request)


@require_POST
def set_preferences(request: HttpRequest) -> HttpResponse:
    """Keep the theme and the zone of the form; an unknown or empty one means the default."""
    target = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    response = redirect(target if safe else "/")
    for name, allowed in ((THEME_COOKIE, THEMES), (ZONE_COOKIE, timezones.names())):
        value = request.POST.get(name, "")
        if value in allowed:
            response.set_cookie(
                name,
                value,
                max_age=YEAR,
                samesite="Lax",
                httponly=True,
                secure=settings.SESSION_COOKIE_SECURE,
            )
        else:
            response.delete_cookie(name, samesite="Lax")
    return response
