"""The problem codes that any address of the API may answer; each app registers its own."""

from jobs.errors import ProblemCode

CODES: dict[str, ProblemCode] = {
    "invalid": ProblemCode(400, "Something that was given cannot be accepted; `errors` says what, by field."),
    "invalid_value": ProblemCode(400, "A value has a form or size that cannot be stored."),
    "malformed_json": ProblemCode(400, "The body is not a JSON object that this API takes."),
    "parse_error": ProblemCode(400, "The body cannot be read as what its type says it is."),
    "bad_request": ProblemCode(400, "The request is malformed, or not addressed to this server."),
    "unknown_parameter": ProblemCode(400, "A query parameter is not one that this address knows."),
    "invalid_idempotency_key": ProblemCode(400, "An Idempotency-Key is 1 to 200 printable ASCII characters."),
    "not_authenticated": ProblemCode(401, "Nobody is signed in and no token was given."),
    "authentication_failed": ProblemCode(
        401, "The token is unknown, expired or revoked, or its user is not active."
    ),
    "permission_denied": ProblemCode(403, "You are known, but may not do this."),
    "csrf_failed": ProblemCode(
        403, "A request with a session cookie must prove that it comes from our own pages."
    ),
    "not_found": ProblemCode(404, "There is no such object for you."),
    "method_not_allowed": ProblemCode(
        405, "This address does not answer that method; `Allow` says which it does."
    ),
    "not_acceptable": ProblemCode(406, "This API answers in JSON only."),
    "request_timeout": ProblemCode(408, "The body did not arrive in time."),
    "conflict": ProblemCode(409, "The object's state does not allow this now."),
    "refused": ProblemCode(409, "What was asked cannot be done; nothing was changed."),
    "request_in_progress": ProblemCode(
        409, "The first request with this Idempotency-Key is still being worked on."
    ),
    "too_large": ProblemCode(413, "The body, or something in it, is larger than is accepted."),
    "unsupported_media_type": ProblemCode(
        415, "The body's type is not accepted here; JSON is sent as application/json."
    ),
    "unsupported_encoding": ProblemCode(415, "Bodies are not accepted compressed."),
    "idempotency_key_reused": ProblemCode(422, "This Idempotency-Key was used before, with another body."),
    "throttled": ProblemCode(429, "Too many requests; `Retry-After` says when to come back."),
    "server_error": ProblemCode(500, "Our fault. The log tells more under this `request_id`."),
    "busy": ProblemCode(503, "Something else held what this request needed; try again after `Retry-After`."),
    "database_unavailable": ProblemCode(
        503, "The database does not answer; nothing was changed unless you were told so."
    ),
    "broker_unavailable": ProblemCode(503, "The message broker does not answer."),
    "overloaded": ProblemCode(503, "Too many requests are waiting already."),
}
