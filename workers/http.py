"""`http.request`: sends one request to a public address and returns the response."""

import base64
import codecs
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from email.message import Message
from typing import Annotated, Any

from pydantic import Field

from dure import Context, InvalidArgs, PermissionRefused, TaskFailure, task
from jobs.http_client import NoResponse, RequestRefused, Response, request
from workers import truncate

MAX_SECONDS = 60.0
# Time for the engine to write the failure down, which would otherwise be a timeout.
MARGIN_SECONDS = 1.0

# Never Set-Cookie: all members of the office can read a result.
RESULT_HEADERS = (
    "content-type",
    "content-length",
    "content-encoding",
    "content-language",
    "date",
    "etag",
    "last-modified",
    "link",
    "location",
    "retry-after",
    "x-request-id",
)
MAX_HEADER = 1_024

TEXT_TYPES = ("json", "xml", "javascript", "x-www-form-urlencoded", "yaml")
# The canonical names of codecs. A server must not choose others, such as idna or unicode_escape.
CHARSETS = {
    codecs.lookup(name).name
    for name in ("utf-8", "ascii", "latin-1", "cp1252", "utf-16", "euc-kr", "cp949", "shift_jis", "gb18030")
}

Status = Annotated[int, Field(ge=100, le=599)]
Body = str | dict[str, Any] | list[Any] | None


@task("http.request", timeout=MAX_SECONDS + 10)
def http_request(
    ctx: Context,
    method: str,
    url: str,
    headers: dict[str, str] | None = None,
    body: Body = None,
    expect: Sequence[Status] = (200,),
) -> dict[str, Any]:
    """Sends one HTTP request to a public address; any status but the expected ones is a failure."""
    try:
        answer = request(method, url, **_message(ctx, headers or {}, body), seconds=_seconds_left(ctx))
    except RequestRefused as refusal:
        raise InvalidArgs(str(refusal)) from None
    except NoResponse as problem:
        raise TaskFailure(str(problem)) from None
    if answer.status not in expect:
        raise _status_failure(answer, expect)
    return response_json(answer)


def _seconds_left(ctx: Context) -> float:
    left = (ctx.deadline - datetime.now(UTC)).total_seconds() - MARGIN_SECONDS
    return min(MAX_SECONDS, left)


def _message(ctx: Context, headers: dict[str, str], body: Body) -> dict[str, Any]:
    headers = dict(headers)
    names = {name.lower() for name in headers}
    content = "text/plain; charset=utf-8"
    if body is not None and not isinstance(body, str):
        body, content = json.dumps(body, ensure_ascii=False), "application/json"
    if body is not None and "content-type" not in names:
        headers["Content-Type"] = content
    if "idempotency-key" not in names:
        # The same over all attempts, so that the server recognises a repetition.
        headers["Idempotency-Key"] = ctx.idempotency_key
    try:
        return {"headers": headers, "body": None if body is None else body.encode()}
    except UnicodeEncodeError:
        raise InvalidArgs("The body contains half of a surrogate pair.") from None


def _status_failure(answer: Response, expect: Sequence[int]) -> TaskFailure:
    message = f"Answered {answer.status} {answer.reason[:80]}".rstrip() + (
        f", expected {' or '.join(str(status) for status in expect)}."
    )
    if 300 <= answer.status < 400:
        message += " Redirects are not followed."
    if answer.status >= 500 or answer.status in (408, 429):
        # Not the request's fault: the same request may succeed later.
        return TaskFailure(message)
    if answer.status in (401, 403, 407):
        return PermissionRefused(message)
    # The request's fault, and a retry would send the same request.
    return InvalidArgs(message)


def response_json(answer: Response) -> dict[str, Any]:
    """The response as JSON that PostgreSQL can store, cut to the size limit of a result."""
    headers = {
        name: _clean(answer.headers[name])[:MAX_HEADER] for name in RESULT_HEADERS if name in answer.headers
    }
    text = _text(answer)
    result: dict[str, Any] = {
        "status": answer.status,
        "headers": headers,
        "encoding": "base64" if text is None else "utf-8",
        "truncated": answer.truncated,
        "elapsed_ms": answer.elapsed_ms,
    }
    room = truncate.bytes_left(result | {"body": ""})
    if text is not None:
        body = truncate.head(text, room)
        cut = len(body) < len(text)
    else:
        whole = answer.body[: room // 4 * 3]
        body, cut = base64.b64encode(whole).decode(), len(whole) < len(answer.body)
    return result | {"body": body, "truncated": answer.truncated or cut}


def _text(answer: Response) -> str | None:
    """The body as text, or None when it is not text."""
    if answer.headers.get("content-encoding", "identity") != "identity":
        return None
    kind = Message()
    kind["Content-Type"] = answer.headers.get("content-type", "")
    charset_name = str(kind.get_param("charset", "utf-8"))
    is_text = kind.get_content_maintype() == "text" or kind.get_content_subtype().endswith(TEXT_TYPES)
    try:
        charset = codecs.lookup(charset_name).name
    except (LookupError, ValueError):
        charset = ""
    if "content-type" in answer.headers and is_text and charset in CHARSETS:
        return _clean(answer.body.decode(charset, "replace"))
    try:
        text = answer.body.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _clean(text: str) -> str:
    """PostgreSQL cannot store a NUL in a JSON text."""
    return text.replace("\0", "\ufffd")
