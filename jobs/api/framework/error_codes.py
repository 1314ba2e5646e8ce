"""The problem codes that any address of the API may answer; each app registers its own."""

from jobs.errors import ProblemCode

CODES: dict[str, ProblemCode] = {
    "invalid": ProblemCode(400, "The input is not valid; `errors` has the reasons by field."),
    "invalid_value": ProblemCode(400, "A value cannot be stored."),
    "malformed_json": ProblemCode(400, "The body is not a JSON object that this API accepts."),
    "parse_error": ProblemCode(400, "The body does not match its media type."),
    "bad_request": ProblemCode(400, "The request is malformed, or not addressed to this server."),
    "unknown_parameter": ProblemCode(400, "The URL has an unknown query parameter."),
    "invalid_idempotency_key": ProblemCode(400, "An Idempotency-Key is 1 to 200 printable ASCII characters."),
    "not_authenticated": ProblemCode(401, "The request has neither a session nor a token."),
    "authentication_failed": ProblemCode(
        401, "The token is unknown, expired or revoked, or its user is not active."
    ),
    "permission_denied": ProblemCode(403, "You are authenticated, but may not do this."),
    "csrf_failed": ProblemCode(403, "A request with a session cookie needs a CSRF token."),
    "not_found": ProblemCode(404, "There is no such object, or you may not see it."),
    "method_not_allowed": ProblemCode(
        405, "The URL does not support this method; `Allow` lists the supported ones."
    ),
    "not_acceptable": ProblemCode(406, "This API answers in JSON only."),
    "request_timeout": ProblemCode(408, "The body did not arrive in time."),
    "conflict": ProblemCode(409, "The object's state does not allow this now."),
    "refused": ProblemCode(409, "The request is not possible; nothing was changed."),
    "request_in_progress": ProblemCode(
        409, "The first request with this Idempotency-Key is still being processed."
    ),
    "too_large": ProblemCode(413, "The body, or a part of it, exceeds a limit."),
    "unsupported_media_type": ProblemCode(
        415, "The media type of the body is not accepted; send JSON as application/json."
    ),
    "unsupported_encoding": ProblemCode(415, "Compressed bodies are not accepted."),
    "idempotency_key_reused": ProblemCode(422, "This Idempotency-Key was used before, with another body."),
    "throttled": ProblemCode(429, "Too many requests; wait as long as `Retry-After` says."),
    "server_error": ProblemCode(500, "A server error; the log has the details under `request_id`."),
    "busy": ProblemCode(503, "A lock that this request needs is held; try again after `Retry-After`."),
    "database_unavailable": ProblemCode(503, "The database does not answer; try again."),
    "broker_unavailable": ProblemCode(503, "The message broker does not answer."),
    "overloaded": ProblemCode(503, "Too many requests are waiting already."),
}
