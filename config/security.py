"""Headers that restrict what browsers load and embed: only from this server, in no frame."""

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
# JSON loads nothing, even if a browser renders it as a page.
DATA = "default-src 'none'; frame-ancestors 'none'"


class SecurityHeadersMiddleware:
    """Sets what Django's SecurityMiddleware does not set. A view's own policy is kept."""

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
        # Other sites may not load our responses as scripts or images.
        response.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
        return response
