"""Sends one request and reads one response, within a deadline and a size."""

import http.client
import socket
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from django.conf import settings

from jobs.http_client.addresses import Allowance
from jobs.http_client.connection import (
    Deadline,
    DeadlineSocket,
    Resolver,
    addresses_of,
    connect,
    encrypt,
)
from jobs.http_client.target import RequestRefused, Target, read_headers, read_method, read_url
from jobs.threads import call_within

MAX_BODY = 2**20
# One byte a chunk is the most that framing can add to a body, with room for 100 headers beside it.
FRAMING = 8


class NoResponse(Exception):
    """No response came: the name, the connection, the certificate, the time or the protocol failed."""


@dataclass(frozen=True)
class Response:
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
    secret_path: bool = False,
) -> Response:
    """Raises RequestRefused before anything is sent, NoResponse when no complete response came.

    Every status is a response, a redirect too. A body longer than `limit` is cut, and `truncated` is true.
    With `secret_path` no error names the path.
    """
    started = time.monotonic()
    target, method, headers = read_url(url), read_method(method), read_headers(headers or {})
    target = replace(target, secret_path=secret_path)
    allow = Allowance.parse(settings.DURE_HTTP_ALLOW) if allow is None else allow
    deadline = Deadline(seconds)
    try:
        addresses = _checked_addresses(target, deadline, allow, resolver)
        with closing(_open(target, addresses, deadline)) as sock:
            connection = http.client.HTTPConnection(target.host, target.port)
            connection.sock = DeadlineSocket(sock, deadline, FRAMING * limit + MAX_BODY)
            _send(connection, target, method, headers, body)
            with connection.getresponse() as response:
                content = _read_body(response, target, limit)
    except TimeoutError:
        raise NoResponse(f"{target} did not answer within {seconds:.1f} s.") from None
    except (OSError, http.client.HTTPException) as error:
        raise NoResponse(f"{target} could not be reached: {_reason(error)}.") from error
    return Response(
        status=response.status,
        reason=response.reason,
        headers={name.lower(): value for name, value in response.getheaders()},
        body=content[:limit],
        truncated=len(content) > limit,
        elapsed_ms=round((time.monotonic() - started) * 1000),
    )


def _checked_addresses(target: Target, deadline: Deadline, allow: Allowance, resolver: Resolver) -> list[str]:
    """One inner address among public ones refuses the name: that mixture is deliberate."""
    # In a thread, since a hanging name service ignores deadlines and signals. Once: see above.
    addresses = call_within(deadline.seconds_left(), partial(resolver, target.host, target.port))
    if not addresses or not all(allow.may_reach(target.host, target.port, address) for address in addresses):
        # Tells neither which address it was nor whether anything listens there.
        raise RequestRefused("target_not_public", target=str(target))
    return addresses


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
    own_names = {name.lower() for name in headers}
    # Nothing is decompressed here, so a compressed body stays compressed and cannot be a bomb.
    defaults = {
        "User-Agent": f"Dure/{settings.SPECTACULAR_SETTINGS['VERSION']}",
        "Accept-Encoding": "identity",
    }
    further = {name: value for name, value in defaults.items() if name.lower() not in own_names}
    sent = {"Host": target.authority, **further, **headers, "Connection": "close"}
    connection.request(method, target.selector, body, sent)


def _read_body(response: http.client.HTTPResponse, target: Target, limit: int) -> bytes:
    content = response.read(limit + 1)
    if len(content) <= limit and response.length:
        raise NoResponse(f"{target} broke off in the middle of its answer.")
    return content


def _reason(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "its name is not known"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return (
        "it broke off or did not speak HTTP" if isinstance(error, http.client.HTTPException) else str(error)
    )
