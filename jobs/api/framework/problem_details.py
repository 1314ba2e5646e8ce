"""Errors as problem documents: `application/problem+json` (RFC 9457).

`problem_for` turns an exception into a problem, for DRF (`handle`) and for the views of Django's own errors
(config/errors.py).
"""

import logging
import math
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core import exceptions as django_errors
from django.db import DataError, InterfaceError, OperationalError
from django.http import Http404, HttpResponse
from django.http.multipartparser import MultiPartParserError
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError
from rest_framework import exceptions as api_errors
from rest_framework.renderers import JSONRenderer

from jobs import errors as verb_errors
from jobs.api.framework import request_id, throttling
from jobs.errors import PROBLEM_CODES
from jobs.texts import first_line

CONTENT_TYPE = "application/problem+json"
# Python's phrases change with its version.
STATUS_NAMES = {413: "Content Too Large", 416: "Range Not Satisfiable", 422: "Unprocessable Content"}
# Held locks, deadlocks, serialization failures and cancelled statements: a repeated request may succeed.
BUSY_STATES = {"55P03", "40P01", "40001", "57014"}

log = logging.getLogger(__name__)


class Problem(api_errors.APIException):
    """A problem that a view raises. Further keyword arguments become members of the document."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        errors: dict[str, list[str]] | None = None,
        headers: dict[str, str] | None = None,
        **extra: object,
    ) -> None:
        super().__init__(detail, code)
        self.status_code = status
        self.problem = ProblemDetails(status, code, detail, errors or {}, headers or {}, extra)


def invalid_field(name: str, sentence: str) -> Problem:
    """The problem of one parameter, or one field of a body."""
    return Problem(400, "invalid", f"{name}: {sentence}", errors={name: [sentence]})


@dataclass(frozen=True)
class ProblemDetails:
    """The contents of one problem document."""

    status: int
    code: str
    detail: str
    errors: dict[str, list[str]] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    extra: dict[str, object] = field(default_factory=dict)

    def document(self) -> dict[str, object]:
        document = {
            **self.extra,
            # RFC 9457: without a described code, only the status has a meaning.
            "type": f"{settings.BASE_URL}/api/problems/{self.code}"
            if self.code in PROBLEM_CODES
            else "about:blank",
            "title": title_of(self.code, self.status),
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }
        if self.errors or self.status == HTTPStatus.BAD_REQUEST:
            document["errors"] = self.errors
        if self.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            document["request_id"] = request_id.current()
        return document

    def response(self) -> HttpResponse:
        body = JSONRenderer().render(self.document())
        return HttpResponse(body, status=self.status, content_type=CONTENT_TYPE, headers=self.headers)


def handle(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """DRF's EXCEPTION_HANDLER. Django turns an unknown exception into a 500."""
    problem = problem_for(error)
    if problem is None:
        return None
    request = context.get("request")
    if problem.status == HTTPStatus.UNAUTHORIZED and request is not None:
        problem = _count_failed_authentication(problem, request)
    # Not DRF's Response: the view's renderers may be for HTML or video.
    return problem.response()


def problem_for(error: BaseException) -> ProblemDetails | None:
    match error:
        case Problem():
            return error.problem
        case verb_errors.Refused():
            return ProblemDetails(
                error.status, error.code, str(error), error.errors_in_english(), extra=error.extra
            )
        case api_errors.APIException():
            return _from_drf(error)
        case Http404():
            return ProblemDetails(404, "not_found", "There is no such object, or you may not see it.")
        case django_errors.ObjectDoesNotExist():
            # The object was deleted after the lookup.
            return ProblemDetails(404, "not_found", "The object no longer exists.")
        case django_errors.PermissionDenied():
            return ProblemDetails(403, "permission_denied", str(error) or "You may not do this.")
        case django_errors.RequestDataTooBig():
            return too_large(settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0)
        case django_errors.SuspiciousOperation() | django_errors.BadRequest() | MultiPartParserError():
            return ProblemDetails(
                400, "bad_request", "The request is malformed, or not addressed to this server."
            )
        case OperationalError() | InterfaceError():
            return _from_database(error)
        case DataError():
            log.warning("The database rejected a value", exc_info=error)
            return ProblemDetails(400, "invalid_value", "A value cannot be stored.")
        case RedisError() | BrokerError():
            log.error("The broker does not answer: %s", error)
            return unavailable("broker_unavailable", "The message broker does not answer.", after=5)
    return None


def title_of(code: str, status: int) -> str:
    """The title of the code; without a described code the name of the status, as RFC 9457 has it."""
    return PROBLEM_CODES[code].title if code in PROBLEM_CODES else name_of(status)


def name_of(status: int) -> str:
    return STATUS_NAMES.get(status) or HTTPStatus(status).phrase


def too_large(limit: int) -> ProblemDetails:
    return ProblemDetails(
        413, "too_large", f"The body is larger than {limit:,} bytes.", extra={"limit": limit}
    )


def unavailable(code: str, detail: str, *, after: int) -> ProblemDetails:
    return ProblemDetails(503, code, detail, headers={"Retry-After": str(after)})


def too_many_requests(seconds: float) -> ProblemDetails:
    wait = max(1, math.ceil(seconds))
    return ProblemDetails(
        429, "throttled", f"Too many requests; try again in {wait} s.", headers={"Retry-After": str(wait)}
    )


def _from_drf(error: api_errors.APIException) -> ProblemDetails:
    if isinstance(error, api_errors.Throttled):
        return too_many_requests(getattr(error, "wait", None) or 1)
    headers = {}
    if auth_header := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = auth_header
    if isinstance(error, api_errors.ValidationError):
        errors = flatten_errors(error.detail)
        where, sentences = next(iter(errors.items()), ("", ["The request is not valid."]))
        detail = sentences[0] if where in ("", "non_field_errors") else f"{where}: {sentences[0]}"
        return ProblemDetails(400, "invalid", detail, errors, headers)
    if isinstance(error, api_errors.NotFound):
        return ProblemDetails(404, "not_found", str(error.detail), headers=headers)
    code = getattr(error.detail, "code", None) or error.default_code
    return ProblemDetails(error.status_code, str(code), str(error.detail), headers=headers)


def flatten_errors(detail: Any, path: str = "") -> dict[str, list[str]]:
    """DRF's nested error details under dotted paths: `jobs.3.task_id`."""
    if isinstance(detail, dict):
        items = [(str(key), value) for key, value in detail.items()]
    elif isinstance(detail, list) and any(isinstance(item, (dict, list)) for item in detail):
        items = [(str(position), value) for position, value in enumerate(detail)]
    else:
        sentences = [str(item) for item in detail] if isinstance(detail, list) else [str(detail)]
        return {path or "non_field_errors": sentences} if sentences else {}
    errors: dict[str, list[str]] = {}
    for key, value in items:
        errors |= flatten_errors(value, f"{path}.{key}" if path else key)
    return errors


def _from_database(error: OperationalError | InterfaceError) -> ProblemDetails:
    if getattr(error.__cause__, "pgcode", None) in BUSY_STATES:
        return unavailable("busy", "A lock that this request needs is held; try again.", after=1)
    log.error("The database does not answer: %s", first_line(error))
    return unavailable("database_unavailable", "The database does not answer; try again.", after=5)


def _count_failed_authentication(problem: ProblemDetails, request: Any) -> ProblemDetails:
    """Counts requests without valid credentials, to limit guessing of tokens."""
    wait = throttling.count_unauthorized(request)
    return problem if wait is None else too_many_requests(wait)
