"""Gives every request an id that its answer, its log lines and its problem document share."""

import re
import secrets
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponseBase

HEADER = "X-Request-ID"
# Whoever sends an id chooses what stands in our logs, so it must be plain.
_SANE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

_current: ContextVar[str] = ContextVar("request_id", default="")


def current() -> str:
    """The id of the request being served, or nothing outside of one."""
    return _current.get()


class RequestId:
    """Middleware: takes the client's id where it is sane, else makes one, and echoes it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get(HEADER, "")
        request_id = given if _SANE.fullmatch(given) else secrets.token_hex(8)
        token = _current.set(request_id)
        try:
            response = self.get_response(request)
        finally:
            _current.reset(token)
        response[HEADER] = request_id
        return response
