"""What drf-spectacular cannot see by itself: our credentials, our problems, and repeatable POSTs."""

from http import HTTPStatus
from typing import Any

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter

from jobs.rest.catalogue import KINDS
from jobs.rest.idempotency import HEADER, LONGEST_KEY
from jobs.rest.problems import CONTENT_TYPE

PROBLEM = {
    "type": "object",
    "description": "Why a request was refused, or failed (RFC 9457).",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference", "description": "Where `code` is explained."},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string", "description": "What is wrong this time, for a person."},
        "code": {"type": "string", "description": "What is wrong, for a program.", "examples": sorted(KINDS)},
        "errors": {
            "type": "object",
            "description": "With status 400: what is wrong with each field, under dotted paths.",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
        "request_id": {"type": "string", "description": "From 500 on: under this id the log tells more."},
    },
}
RETRY_AFTER = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}
METHODS = ("get", "post", "put", "patch", "delete")


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "jobs.rest.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Token ` and an API token: `Authorization: Token dure_…`",
        }


class CookieScheme(SessionScheme):  # type: ignore[no-untyped-call]
    target_class = "jobs.rest.authentication.SessionAuthentication"
    name = "session"
    priority = 0


class Schema(AutoSchema):
    def get_override_parameters(self) -> list[Any]:
        parameters: list[Any] = super().get_override_parameters()
        action = getattr(self.view, "action", None) or self.method.lower()
        if not getattr(getattr(self.view, action, None), "is_idempotent", False):
            return parameters
        key = OpenApiParameter(
            HEADER,
            {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY},
            OpenApiParameter.HEADER,
            description="Sent again with the same key and body, the request answers its first answer again.",
        )
        return [*parameters, key]


def add_problems(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A post-processing hook: every operation says how it refuses."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    for path in result.get("paths", {}).values():
        for operation in (path[method] for method in METHODS if method in path):
            responses = operation["responses"]
            told = [int(status) for status in responses if status.isdecimal() and status >= "400"]
            for status in {*told, *_refusals_of(operation)}:
                # A view that tells of a refusal has the words for it; the form is the same everywhere.
                responses[str(status)] = _response(status) | _description(responses.get(str(status)))
            operation["responses"] = dict(sorted(responses.items()))
    return result


def _refusals_of(operation: dict[str, Any]) -> list[int]:
    places = {parameter["in"] for parameter in operation.get("parameters", [])}
    names = {parameter["name"] for parameter in operation.get("parameters", [])}
    found = [400, 406, 429, 500, 503]
    # An empty requirement means that no credentials are needed.
    if operation.get("security") and {} not in operation["security"]:
        found += [401, 403]
    if "path" in places or "page" in names:
        found.append(404)
    if "requestBody" in operation:
        found += [413, 415]
    if HEADER in names:
        found += [409, 422]
    return found


def _description(told: dict[str, Any] | None) -> dict[str, str]:
    return {"description": told["description"]} if told and told.get("description") else {}


def _response(status: int) -> dict[str, Any]:
    described: dict[str, Any] = {
        "description": HTTPStatus(status).phrase,
        "content": {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        described["headers"] = RETRY_AFTER
    return described
