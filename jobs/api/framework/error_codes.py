"""The problem codes that any address of the API may answer; each app registers its own."""

from jobs.errors import ProblemCode

CODES: dict[str, ProblemCode] = {
    "invalid": ProblemCode(
        400, "Invalid input", "The input is not valid; `errors` has the reasons by field."
    ),
    "invalid_value": ProblemCode(400, "Value cannot be stored", "A value cannot be stored."),
    "malformed_json": ProblemCode(
        400, "Malformed JSON", "The body is not a JSON object that this API accepts."
    ),
    "parse_error": ProblemCode(400, "Malformed body", "The body does not match its media type."),
    "bad_request": ProblemCode(
        400, "Malformed request", "The request is malformed, or not addressed to this server."
    ),
    "unknown_parameter": ProblemCode(
        400, "Unknown query parameter", "The URL has an unknown query parameter."
    ),
    "invalid_idempotency_key": ProblemCode(
        400, "Invalid Idempotency-Key", "An Idempotency-Key is 1 to 200 printable ASCII characters."
    ),
    "not_authenticated": ProblemCode(
        401, "Not authenticated", "The request has neither a session nor a token."
    ),
    "authentication_failed": ProblemCode(
        401, "Authentication failed", "The token is unknown, expired or revoked, or its user is not active."
    ),
    "permission_denied": ProblemCode(403, "Permission denied", "You are authenticated, but may not do this."),
    "csrf_failed": ProblemCode(
        403, "CSRF check failed", "A request with a session cookie needs a CSRF token."
    ),
    "not_found": ProblemCode(404, "Not found", "There is no such object, or you may not see it."),
    "method_not_allowed": ProblemCode(
        405, "Method not allowed", "The URL does not support this method; `Allow` lists the supported ones."
    ),
    "not_acceptable": ProblemCode(406, "Not acceptable", "This API answers in JSON only."),
    "request_timeout": ProblemCode(408, "Request timeout", "The body did not arrive in time."),
    "conflict": ProblemCode(409, "Conflict", "The object's state does not allow this now."),
    "refused": ProblemCode(409, "Refused", "The request is not possible; nothing was changed."),
    "request_in_progress": ProblemCode(
        409, "Request in progress", "The first request with this Idempotency-Key is still being processed."
    ),
    "too_large": ProblemCode(413, "Body too large", "The body, or a part of it, exceeds a limit."),
    "unsupported_media_type": ProblemCode(
        415,
        "Unsupported media type",
        "The media type of the body is not accepted; send JSON as application/json.",
    ),
    "unsupported_encoding": ProblemCode(415, "Unsupported encoding", "Compressed bodies are not accepted."),
    "idempotency_key_reused": ProblemCode(
        422, "Idempotency-Key reused", "This Idempotency-Key was used before, with another body."
    ),
    "throttled": ProblemCode(
        429, "Too many requests", "Too many requests; wait as long as `Retry-After` says."
    ),
    "server_error": ProblemCode(
        500, "Server error", "A server error; the log has the details under `request_id`."
    ),
    "busy": ProblemCode(
        503, "Busy", "A lock that this request needs is held; try again after `Retry-After`."
    ),
    "database_unavailable": ProblemCode(
        503, "Database unavailable", "The database does not answer; try again."
    ),
    "broker_unavailable": ProblemCode(503, "Broker unavailable", "The message broker does not answer."),
    "overloaded": ProblemCode(503, "Overloaded", "Too many requests are waiting already."),
}
