"""The views of Django's own errors: problem documents below /api, Django's pages elsewhere."""

import sys

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views import csrf, defaults

from jobs.api.framework.middleware import is_api
from jobs.api.framework.problem_details import ProblemDetails, problem_for


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    return _problem_response(request, exception) or defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    return _problem_response(request, exception) or defaults.permission_denied(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if is_api(request.path_info):
        return ProblemDetails(404, "not_found", "There is nothing at this URL.").response()
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponseBase:
    # Django calls this while it handles the exception, with the request only.
    problem = problem_for(sys.exc_info()[1] or Exception())
    if is_api(request.path_info):
        unexpected = ProblemDetails(500, "server_error", "Something went wrong on our side.")
        return (problem or unexpected).response()
    if problem and problem.status == 503:
        text = "The service is not available just now; please try again.\n"
        return HttpResponse(text, status=503, content_type="text/plain", headers=problem.headers)
    return defaults.server_error(request)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponseBase:
    if is_api(request.path_info):
        return ProblemDetails(403, "csrf_failed", reason).response()
    return csrf.csrf_failure(request, reason)


def _problem_response(request: HttpRequest, error: Exception) -> HttpResponse | None:
    problem = problem_for(error) if is_api(request.path_info) else None
    return problem.response() if problem else None
