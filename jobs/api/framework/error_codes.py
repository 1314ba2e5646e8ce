"""What each `code` of a problem means; its `type` is the address where the API explains it."""

from typing import NamedTuple


class Kind(NamedTuple):
    status: int
    meaning: str


KINDS: dict[str, Kind] = {
    "invalid": Kind(400, "Something that was given cannot be accepted; `errors` says what, by field."),
    "invalid_value": Kind(400, "A value has a form or size that cannot be stored."),
    "malformed_json": Kind(400, "The body is not a JSON object that this API takes."),
    "parse_error": Kind(400, "The body cannot be read as what its type says it is."),
    "bad_request": Kind(400, "The request is malformed, or not addressed to this server."),
    "unknown_parameter": Kind(400, "A query parameter is not one that this address knows."),
    "invalid_idempotency_key": Kind(400, "An Idempotency-Key is 1 to 200 printable ASCII characters."),
    "not_authenticated": Kind(401, "Nobody is signed in and no token was given."),
    "authentication_failed": Kind(
        401, "The token is unknown, expired or revoked, or its user is not active."
    ),
    "permission_denied": Kind(403, "You are known, but may not do this."),
    "csrf_failed": Kind(403, "A request with a session cookie must prove that it comes from our own pages."),
    "not_found": Kind(404, "There is no such object for you."),
    "method_not_allowed": Kind(405, "This address does not answer that method; `Allow` says which it does."),
    "not_acceptable": Kind(406, "This API answers in JSON only."),
    "request_timeout": Kind(408, "The body did not arrive in time."),
    "conflict": Kind(409, "The object's state does not allow this now."),
    "refused": Kind(409, "What was asked cannot be done; nothing was changed."),
    "request_in_progress": Kind(409, "The first request with this Idempotency-Key is still being worked on."),
    "too_large": Kind(413, "The body, or something in it, is larger than is accepted."),
    "unsupported_media_type": Kind(
        415, "The body's type is not accepted here; JSON is sent as application/json."
    ),
    "unsupported_encoding": Kind(415, "Bodies are not accepted compressed."),
    "idempotency_key_reused": Kind(422, "This Idempotency-Key was used before, with another body."),
    "throttled": Kind(429, "Too many requests; `Retry-After` says when to come back."),
    "server_error": Kind(500, "Our fault. The log tells more under this `request_id`."),
    "busy": Kind(503, "Something else held what this request needed; try again after `Retry-After`."),
    "database_unavailable": Kind(
        503, "The database does not answer; nothing was changed unless you were told so."
    ),
    "broker_unavailable": Kind(503, "The message broker does not answer."),
    "overloaded": Kind(503, "Too many requests are waiting already."),
}


def describe(code: str, meaning: str, status: int = 409) -> str:
    """Adds a code of an app's own, and gives it back: `FULL = describe("queue_full", "…")`."""
    if KINDS.setdefault(code, Kind(status, meaning)) != (status, meaning):
        raise ValueError(f"The code {code!r} means something else already: {KINDS[code].meaning}")
    return code
