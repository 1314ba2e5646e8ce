"""Adds the error responses to the API's schema, with the codes that each operation answers.

Common codes are listed once under `components/responses`. An operation names its own codes:
`@extend_schema(…, extensions=problems("ended"))`.
"""

from collections.abc import Iterable
from typing import Any

from jobs.api.framework.error_codes import CODES
from jobs.api.framework.idempotency import HEADER
from jobs.api.framework.problem_details import CONTENT_TYPE, name_of
from jobs.errors import PROBLEM_CODES

JSON = dict[str, Any]

MARK = "x-refusals"
METHODS = {"get", "post", "put", "patch", "delete"}
# Of a method that an address does not have, and those in whose place operations name codes of their own.
NOT_COMMON = {"method_not_allowed", "conflict", "refused"}
# The codes that any operation may answer, by status.
COMMON: dict[int, list[str]] = {}
for _code, _problem in CODES.items():
    if _code not in NOT_COMMON:
        COMMON.setdefault(_problem.status, []).append(_code)
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
            "description": "The accepted authentication scheme.",
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
            "description": "The length of the file.",
            "required": True,
            "schema": {"type": "string"},
            "example": "bytes */48211",
        }
    },
}
DESCRIPTIONS = {"200": "OK.", "201": "Created.", "202": "Accepted.", "204": "Deleted."}
LOCATION: JSON = {
    "Location": {"description": "The URL of the object.", "schema": {"type": "string", "format": "uri"}}
}
PROBLEM: JSON = {
    "type": "object",
    "description": "Why a request failed (RFC 9457).",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {
            "type": "string",
            "format": "uri-reference",
            "description": "The URL that explains `code`.",
            "examples": ["https://dure.example/api/problems/invalid"],
        },
        "title": {
            "type": "string",
            "description": "The name of the problem: the same whenever `code` is the same.",
        },
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string", "description": "What is wrong, for people."},
        "code": {
            "type": "string",
            "description": "What is wrong, for programs: branch on this. New codes may be added.",
        },
        "errors": {
            "type": "object",
            "description": "With status 400: the errors of each field, by dotted path such as "
            "`jobs.3.task_id`; errors of no single field are under `non_field_errors`.",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
        "request_id": {
            "type": "string",
            "description": "From 500 on: the request's id in the log.",
        },
    },
}


def problems(*codes: str | tuple[int, str]) -> JSON:
    """The codes of one operation; a code may come with another status than its usual one."""
    return {MARK: codes}


def add_error_responses(result: JSON, **_: Any) -> JSON:
    """A post-processing hook that adds error responses to every operation."""
    components = result.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = PROBLEM
    shared = components.setdefault("responses", {})
    shared |= {_name_of(status): error_response(status, codes) for status, codes in COMMON.items()}
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
            error_response(status, [*own[status], *(COMMON[status] if status in common else ())])
            if status in own
            else {"$ref": f"#/components/responses/{_name_of(status)}"}
        )
    for status, response in operation["responses"].items():
        if status in DESCRIPTIONS:
            response["description"] = response.get("description") or DESCRIPTIONS[status]
        if status in ("201", "202"):
            response.setdefault("headers", {}).update(LOCATION)
    operation["responses"] = dict(sorted(operation["responses"].items()))


def error_response(status: int, codes: Iterable[str]) -> JSON:
    codes = list(codes)
    description: JSON = {
        "description": "\n".join(f"- `{code}`: {PROBLEM_CODES[code].meaning}" for code in codes),
        "content": {
            CONTENT_TYPE: {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "examples": {code: {"value": example(status, code)} for code in codes},
            }
        },
    }
    return description | ({"headers": HEADERS[status]} if status in HEADERS else {})


def example(status: int, code: str) -> JSON:
    document: JSON = {
        "type": f"https://dure.example/api/problems/{code}",
        "title": PROBLEM_CODES[code].title,
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
    statuses = {400, 406, 429, 500, 503}
    # An empty requirement means that no credentials are needed.
    if operation.get("security") and {} not in operation["security"]:
        statuses |= {401, 403}
    if "path" in places or "page" in names:
        statuses.add(404)
    if method in ("post", "put", "patch"):
        # Also for operations without a body: one that is sent is read.
        statuses |= {408, 413, 415}
    if HEADER in names:
        statuses |= {409, 422}
    return statuses


def _name_of(status: int) -> str:
    return name_of(status).replace(" ", "")
