"""Says who acts in a request, for the activity log."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from jobs.actors import Actor, act_as
from jobs.api.framework.middleware import is_api
from jobs.states import Surface


class ActorMiddleware:
    """After AuthenticationMiddleware. An API token names its user itself."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with act_as(Actor(_surface(request.path_info), request.user)):
            return self.get_response(request)


def _surface(path: str) -> Surface:
    if is_api(path):
        return Surface.API
    return Surface.ADMIN if path.startswith("/admin/") else Surface.PAGE
