"""Sends one request and reads one answer, within one deadline and one size."""

import http.client
import socket
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass

from django.conf import settings

from jobs.http_client.addresses import Allowance
from jobs.http_client.target import RequestRefused, Target, read_headers, read_method, read_url
from jobs.http_client.wire import Deadline, Resolver, Wire, addresses_of, connect, encrypt, resolve

MAX_BODY = 2**20
# One byte a chunk is the most that framing can add to a body, with room for 100 headers beside it.
FRAMING = 8


class Unanswered(Exception):
    """No answer came: the name, the connection, the certificate, the time or the protocol failed."""


@dataclass(frozen=True)
class Answer:
    status: int
    reason: str
    headers: dict[str, str]
    body: bytes
    truncated: bool
    elapsed_ms: int


def request(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    seconds: float = 10.0,
    limit: int = MAX_BODY,
    allow: Allowance | None = None,
    resolver: Resolver = addresses_of,
) -> Answer:
    """Raises RequestRefused before anything is sent, Unanswered when no whole answer came.

    Any status is an answer, a redirect too. A body longer than `limit` is cut, and said to be.
    """
    started = time.monotonic()
    target, method, headers = read_url(url), read_method(method), read_headers(headers or {})
    allow = Allowance.parse(settings.DURE_HTTP_ALLOW) if allow is None else allow
    deadline = Deadline(seconds)
    try:
        addresses = _checked_addresses(target, deadline, allow, resolver)
        with closing(_open(target, addresses, deadline)) as sock:
            connection = http.client.HTTPConnection(target.host, target.port)
            connection.sock = Wire(sock, deadline, FRAMING * limit + MAX_BODY)
            _send(connection, target, method, headers, body)
            with connection.getresponse() as response:
                read = response.read(limit + 1)
                if len(read) <= limit and response.length:
                    raise Unanswered(f"{target} broke off in the middle of its answer.")
    except TimeoutError:
        raise Unanswered(f"{target} did not answer within {seconds:.1f} s.") from None
    except (OSError, http.client.HTTPException) as error:
        raise Unanswered(f"{target} could not be reached: {_reason(error)}.") from error
    return Answer(
        status=response.status,
        reason=response.reason,
        headers={name.lower(): value for name, value in response.getheaders()},
        body=read[:limit],
        truncated=len(read) > limit,
        elapsed_ms=round((time.monotonic() - started) * 1000),
    )


def _checked_addresses(target: Target, deadline: Deadline, allow: Allowance, resolver: Resolver) -> list[str]:
    """One inner address among public ones refuses the name: whoever made it so had a reason."""
    found = resolve(resolver, target.host, target.port, deadline)
    if not found or not all(allow.may_reach(target.host, target.port, address) for address in found):
        # Says neither which address it was nor whether anything listens there.
        raise RequestRefused("target_not_public", target=str(target))
    return found


def _open(target: Target, addresses: list[str], deadline: Deadline) -> socket.socket:
    sock = connect(addresses, target.port, deadline)
    if target.scheme == "http":
        return sock
    try:
        return encrypt(sock, target.host, deadline)
    except BaseException:
        sock.close()
        raise


def _send(
    connection: http.client.HTTPConnection,
    target: Target,
    method: str,
    headers: Mapping[str, str],
    body: bytes | None,
) -> None:
    connection.putrequest(method, target.selector, skip_host=True, skip_accept_encoding=True)
    connection.putheader("Host", target.authority)
    given = {name.lower() for name in headers}
    # Nothing is unpacked here, so there is no bomb to unpack; what comes packed stays so.
    for name, value in (
        ("User-Agent", f"Dure/{settings.SPECTACULAR_SETTINGS['VERSION']}"),
        ("Accept-Encoding", "identity"),
    ):
        if name.lower() not in given:
            connection.putheader(name, value)
    for name, value in headers.items():
        connection.putheader(name, value)
    if body is not None or method in ("POST", "PUT", "PATCH"):
        connection.putheader("Content-Length", str(len(body or b"")))
    connection.putheader("Connection", "close")
    connection.endheaders(body)


def _reason(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "its name is not known"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return (
        "it broke off or did not speak HTTP" if isinstance(error, http.client.HTTPException) else str(error)
    )
