"""Turns every error below /api into a problem document, also those that Django answers itself.

Django answers some requests before or instead of a view: a bad Host, an unknown URL, a failed CSRF check,
an exception in a middleware. Those answers are HTML, and with DEBUG a traceback.
"""

from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

from jobs.api.framework.problem_details import CONTENT_TYPE, ProblemDetails

# The code and detail of a problem of which only the status is known.
PLAIN = {
    400: ("bad_request", "The request is malformed, or not addressed to this server."),
    401: ("not_authenticated", "Nobody is signed in and no token was given."),
    403: ("permission_denied", "You may not do this."),
    404: ("not_found", "There is nothing at this URL."),
    405: ("method_not_allowed", "This URL does not support the method."),
    413: ("too_large", "The body is larger than is accepted."),
    415: ("unsupported_media_type", "The body's type is not accepted here."),
    429: ("throttled", "Too many requests; try again later."),
    503: ("busy", "The server cannot answer now; try again."),
}
KEPT_HEADERS = ("Allow", "Retry-After", "WWW-Authenticate", "Location", "Vary")


def is_api(path: str) -> bool:
    return path == "/api" or path.startswith("/api/")


class ApiMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not is_api(request.path_info):
            return self.get_response(request)
        if problem := _unreadable(request):
            return problem.response()
        response = self.get_response(request)
        if response.status_code >= HTTPStatus.BAD_REQUEST and response.get("Content-Type") != CONTENT_TYPE:
            response = _as_problem(response)
        # Answers are private: no cache may store them.
        response.setdefault("Cache-Control", "no-store")
        return response


def _unreadable(request: HttpRequest) -> ProblemDetails | None:
    """Checks that apply to all views."""
    if request.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
        return ProblemDetails(415, "unsupported_encoding", "The body must not be compressed.")
    query = request.META.get("QUERY_STRING", "")
    # PostgreSQL texts cannot contain NUL; psycopg2 would raise a ValueError inside a query.
    if "\0" in request.path_info or "\0" in query or "%00" in query:
        return ProblemDetails(400, "bad_request", "The address contains a NUL character.")
    return None


def _as_problem(response: HttpResponseBase) -> HttpResponseBase:
    status = response.status_code
    fallback = (
        ("server_error", "Something went wrong on our side.")
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR
        else ("bad_request", HTTPStatus(status).phrase)
    )
    code, detail = PLAIN.get(status, fallback)
    headers = {name: response[name] for name in KEPT_HEADERS if name in response}
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers.setdefault("Retry-After", "5")
    problem = ProblemDetails(status, code, detail, headers=headers).response()
    problem.cookies = response.cookies
    # Closing the original response here would signal the end of the request.
    problem._resource_closers.extend(response._resource_closers)  # type: ignore[attr-defined]
    return problem


class LanguageMiddleware(LocaleMiddleware):
    """Pages use the reader's language, the API uses English."""

    def process_request(self, request: HttpRequest) -> None:
        if not is_api(request.path_info):
            super().process_request(request)
            return
        translation.activate("en")
        request.LANGUAGE_CODE = "en"

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        return response if is_api(request.path_info) else super().process_response(request, response)
