"""/metrics in Prometheus' text format, and the duration of requests.

Access requires `Authorization: Bearer $DURE_METRICS_TOKEN`, or the API token of a staff user. Outside
production, /metrics is public if DURE_METRICS_TOKEN is not set. The client's address is no proof: behind a
proxy, all clients have 127.0.0.1.
"""

import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from prometheus_client.exposition import choose_encoder

from jobs.api.framework.authentication import find_token
from jobs.metrics import REGISTRY, REQUESTS

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


def metrics(request: HttpRequest) -> HttpResponse:
    if not _may_read(request.headers.get("Authorization", "")):
        challenge = {"WWW-Authenticate": 'Bearer realm="metrics"'}
        return HttpResponse("unauthorized\n", status=401, content_type="text/plain", headers=challenge)
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(REGISTRY), content_type=content_type)


def _may_read(authorization: str) -> bool:
    scheme, _, secret = authorization.strip().partition(" ")
    match scheme.lower():
        case "bearer" if settings.DURE_METRICS_TOKEN:
            return constant_time_compare(secret.strip(), settings.DURE_METRICS_TOKEN)
        case "token":
            token = find_token(secret.strip(), timezone.now())
            return token is not None and token.user.is_staff
    return not settings.DURE_METRICS_TOKEN and not settings.PRODUCTION


class RequestTimeMiddleware:
    """Observes the duration of each request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        start = time.perf_counter()
        response = self.get_response(request)
        # The pattern, not the path: ids as labels would create a time series each.
        route = request.resolver_match.route if request.resolver_match else "unmatched"
        method = request.method if request.method in METHODS else "other"
        REQUESTS.labels(method, route, response.status_code).observe(time.perf_counter() - start)
        return response
