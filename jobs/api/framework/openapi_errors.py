"""How the API's schema tells of refusals: in one form, with the codes that each operation answers.

Most codes are everybody's, and stand once under `components/responses`. What an operation refuses beyond
them it names itself: `@extend_schema(…, extensions=refuses("ended"))`.
"""

from collections.abc import Iterable
from typing import Any

from jobs.api.framework.idempotency import HEADER
from jobs.api.framework.problem_details import CONTENT_TYPE, title_of
from jobs.errors import PROBLEM_CODES

JSON = dict[str, Any]

MARK = "x-refusals"
METHODS = {"get", "post", "put", "patch", "delete"}
# What any operation answers, by status, where it answers that status at all.
COMMON: dict[int, tuple[str, ...]] = {
    400: (
        *("invalid", "invalid_value", "malformed_json", "parse_error", "bad_request", "unknown_parameter"),
        "invalid_idempotency_key",
    ),
    401: ("not_authenticated", "authentication_failed"),
    403: ("permission_denied", "csrf_failed"),
    404: ("not_found",),
    406: ("not_acceptable",),
    408: ("request_timeout",),
    409: ("request_in_progress",),
    413: ("too_large",),
    415: ("unsupported_media_type", "unsupported_encoding"),
    422: ("idempotency_key_reused",),
    429: ("throttled",),
    500: ("server_error",),
    503: ("busy", "database_unavailable", "broker_unavailable", "overloaded"),
}
RETRY_AFTER: JSON = {
    "Retry-After": {
        "description": "Seconds to wait.",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
        "example": 5,
    }
}
HEADERS: dict[int, JSON] = {
    401: {
        "WWW-Authenticate": {
            "description": "How to show who you are.",
            "required": True,
            "schema": {"type": "string"},
            "example": 'Token realm="api"',
        }
    },
    429: RETRY_AFTER,
    503: RETRY_AFTER,
    507: RETRY_AFTER,
    416: {
        "Content-Range": {
            "description": "How long the file is.",
            "required": True,
            "schema": {"type": "string"},
            "example": "bytes */48211",
        }
    },
}
WORDS = {"200": "Done.", "201": "Made.", "202": "Accepted.", "204": "Deleted."}
LOCATION: JSON = {
    "Location": {"description": "Where to see it.", "schema": {"type": "string", "format": "uri"}}
}
PROBLEM: JSON = {
    "type": "object",
    "description": "Why a request was refused, or failed (RFC 9457).",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {
            "type": "string",
            "format": "uri-reference",
            "description": "Where `code` is explained.",
            "examples": ["https://dure.example/api/problems/invalid"],
        },
        "title": {"type": "string", "description": "The status in words."},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string", "description": "What is wrong this time, for a person."},
        "code": {
            "type": "string",
            "description": "What is wrong, for a program: branch on this. More may be added.",
        },
        "errors": {
            "type": "object",
            "description": "With status 400: what is wrong with each field, under dotted paths like "
            "`jobs.3.task_id`; what belongs to none is under `non_field_errors`.",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
        "request_id": {"type": "string", "description": "From 500 on: under this id the log tells more."},
    },
}


def problems(*codes: str | tuple[int, str]) -> JSON:
    """What an operation refuses of its own; a code may come with another status than its usual one."""
    return {MARK: codes}


def add_error_responses(result: JSON, **_: Any) -> JSON:
    """A post-processing hook: every operation says how it refuses."""
    components = result.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = PROBLEM
    shared = components.setdefault("responses", {})
    shared |= {_name_of(status): response(status, codes) for status, codes in COMMON.items()}
    for path in result.get("paths", {}).values():
        for method in path.keys() & METHODS:
            _add_to(path[method], method)
    return result


def _add_to(operation: JSON, method: str) -> None:
    own: dict[int, list[str]] = {}
    for named in operation.pop(MARK, ()):
        status, code = (PROBLEM_CODES[named].status, named) if isinstance(named, str) else named
        own.setdefault(status, []).append(code)
    common = _common_of(operation, method)
    for status in {*common, *own}:
        operation["responses"][str(status)] = (
            response(status, [*own[status], *(COMMON[status] if status in common else ())])
            if status in own
            else {"$ref": f"#/components/responses/{_name_of(status)}"}
        )
    for status, told in operation["responses"].items():
        if status in WORDS:
            told["description"] = told.get("description") or WORDS[status]
        if status in ("201", "202"):
            told.setdefault("headers", {}).update(LOCATION)
    operation["responses"] = dict(sorted(operation["responses"].items()))


def response(status: int, codes: Iterable[str]) -> JSON:
    found = list(codes)
    described: JSON = {
        "description": "\n".join(f"- `{code}`: {PROBLEM_CODES[code].meaning}" for code in found),
        "content": {
            CONTENT_TYPE: {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "examples": {code: {"value": example(status, code)} for code in found},
            }
        },
    }
    return described | ({"headers": HEADERS[status]} if status in HEADERS else {})


def example(status: int, code: str) -> JSON:
    document: JSON = {
        "type": f"https://dure.example/api/problems/{code}",
        "title": title_of(status),
        "status": status,
        "detail": PROBLEM_CODES[code].meaning.replace("`", ""),
        "code": code,
    }
    if status == 400:
        document["errors"] = {"name": ["This field is required."]} if code == "invalid" else {}
    if status >= 500:
        document["request_id"] = "5f0c2a9b7d3e4c11"
    return document


def _common_of(operation: JSON, method: str) -> set[int]:
    names = {parameter["name"] for parameter in operation.get("parameters", ())}
    places = {parameter["in"] for parameter in operation.get("parameters", ())}
    found = {400, 406, 429, 500, 503}
    # An empty requirement means that no credentials are needed.
    if operation.get("security") and {} not in operation["security"]:
        found |= {401, 403}
    if "path" in places or "page" in names:
        found.add(404)
    if method in ("post", "put", "patch"):
        # Also where no body is asked for: one that is sent is looked at.
        found |= {408, 413, 415}
    if HEADER in names:
        found |= {409, 422}
    return found


def _name_of(status: int) -> str:
    return title_of(status).replace(" ", "")
