"""Tells browsers what our pages may load and do: from this server only, and in nobody's frame."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

PAGE = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
# An answer that is no page loads nothing, whatever a browser takes it for.
DATA = "default-src 'none'; frame-ancestors 'none'"


class Headers:
    """Middleware: what Django's SecurityMiddleware does not set. A view's own policy stays."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        kind = response.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind == "text/html":
            response.setdefault("Content-Security-Policy", PAGE)
        elif kind.endswith("json"):
            response.setdefault("Content-Security-Policy", DATA)
        response.setdefault("X-Content-Type-Options", "nosniff")
        # No other site may load what we answer as its script or image.
        response.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
        return response
