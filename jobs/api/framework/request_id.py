"""Gives every request an id for its answer, its log lines and its problem document."""

import re
import secrets
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponseBase

HEADER = "X-Request-ID"
# Clients choose ids that end up in our logs, so only plain ones are accepted.
_VALID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

_current: ContextVar[str] = ContextVar("request_id", default="")


def current() -> str:
    """The id of the current request, or an empty text outside of a request."""
    return _current.get()


class RequestIdMiddleware:
    """Uses the client's id if it is valid, else a new one, and returns it in the answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        header = request.headers.get(HEADER, "")
        request_id = header if _VALID.fullmatch(header) else secrets.token_hex(8)
        token = _current.set(request_id)
        try:
            response = self.get_response(request)
        finally:
            _current.reset(token)
        response[HEADER] = request_id
        return response
