"""What each `code` of a problem means; its `type` is the address where the API explains it."""

KINDS: dict[str, str] = {
    "invalid": "Something that was given cannot be accepted; `errors` says what, by field.",
    "invalid_value": "A value has a form or size that cannot be stored.",
    "malformed_json": "The body is not a JSON object that this API takes.",
    "parse_error": "The body cannot be read as what its type says it is.",
    "cycle": "The jobs depend on each other in a circle; `cycle` names the members of one, in order.",
    "refused": "What was asked cannot be done; nothing was changed.",
    "bad_request": "The request is malformed, or not addressed to this server.",
    "unknown_parameter": "A query parameter is not one that this list knows.",
    "invalid_idempotency_key": "An Idempotency-Key is 1 to 200 printable ASCII characters.",
    "not_authenticated": "Nobody is signed in and no token was given.",
    "authentication_failed": "The token is unknown, expired or revoked, or its user is not active.",
    "permission_denied": "You are known, but may not do this.",
    "csrf_failed": "A request with a session cookie must prove that it comes from our own pages.",
    "not_found": "There is no such object for you.",
    "method_not_allowed": "This address does not answer that method; `Allow` says which it does.",
    "not_acceptable": "This API answers in JSON only.",
    "request_timeout": "The body did not arrive in time.",
    "conflict": "The object's state does not allow this now.",
    "request_in_progress": "The first request with this Idempotency-Key is still being worked on.",
    "too_large": "The body, or something in it, is larger than is accepted.",
    "unsupported_media_type": "The body's type is not accepted here; JSON is sent as application/json.",
    "unsupported_encoding": "Bodies are not accepted compressed.",
    "idempotency_key_reused": "This Idempotency-Key was used before, with another body.",
    "throttled": "Too many requests; `Retry-After` says when to come back.",
    "busy": "Something else held what this request needed; try again after `Retry-After`.",
    "database_unavailable": "The database does not answer; nothing was changed unless you were told so.",
    "broker_unavailable": "The message broker does not answer.",
    "overloaded": "Too many requests are waiting already.",
    "server_error": "Our fault. The log tells more under this `request_id`.",
}


def describe(code: str, meaning: str) -> str:
    """Adds a code of an app's own, and gives it back: `FULL = describe("queue_full", "…")`."""
    KINDS[code] = meaning
    return code
