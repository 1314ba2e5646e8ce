"""Reads a user's URL, method and headers, and refuses ambiguous ones."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address
from urllib.parse import quote, urlsplit

from jobs.errors import CodedError

MAX_URL = 8_192
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
PORTS = {"http": 80, "https": 443}
HOST = re.compile(r"(?!.{254})([A-Za-z0-9_-]{1,63}\.)*[A-Za-z0-9_-]{1,63}\.?")
# urlsplit drops tabs and newlines and some clients read \ as /: such a URL is refused, not repaired.
AMBIGUOUS = re.compile(r"[\x00-\x20\x7f\\]")
TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
VALUE = re.compile(r"[\t\x20-\x7e]*")
# Set by this client: they determine where the message goes and ends, and what becomes of the connection.
OWN_HEADERS = frozenset(
    (
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "keep-alive",
        "te",
        "trailer",
        "upgrade",
        "expect",
        "http2-settings",
    )
)


class RequestRefused(CodedError):
    """The request is not allowed, and was not sent."""


@dataclass(frozen=True)
class Target:
    scheme: str
    host: str
    port: int
    path: str
    query: str
    secret_path: bool = False

    @property
    def authority(self) -> str:
        """The host and port, for the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def selector(self) -> str:
        """The path and query, for the request line."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def __str__(self) -> str:
        """The URL for logs and messages, without the query, which may hold a secret."""
        path = "/…" if self.secret_path else self.path
        return f"{self.scheme}://{self.authority}{path}"


def read_url(url: str) -> Target:
    if len(url) > MAX_URL:
        raise RequestRefused("url_too_long", limit=MAX_URL)
    if AMBIGUOUS.search(url):
        raise RequestRefused("url_characters")
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
    except ValueError:
        raise RequestRefused("url_invalid") from None
    if parts.scheme not in PORTS:
        raise RequestRefused("url_scheme")
    if "@" in parts.netloc:
        raise RequestRefused("url_credentials")
    return Target(
        parts.scheme,
        _host(host or ""),
        PORTS[parts.scheme] if port is None else port,
        _quote(parts.path) or "/",
        _quote(parts.query),
    )


def _host(host: str) -> str:
    """The host in ASCII. The check of its address comes later, so any spelling of a number may pass here."""
    try:
        if ":" in host and "%" not in host:  # with a %, it would name one of our interfaces
            return str(IPv6Address(host))
        host = host if host.isascii() else host.encode("idna").decode()
    except ValueError:
        raise RequestRefused("url_host") from None
    if not HOST.fullmatch(host):
        raise RequestRefused("url_host")
    return host


def _quote(text: str) -> str:
    try:
        return quote(text, safe="%/:?[]@!$&'()*+,;=~")
    except UnicodeEncodeError:  # half of a surrogate pair
        raise RequestRefused("url_encoding") from None


def read_method(method: str) -> str:
    if method.upper() not in METHODS:
        raise RequestRefused("method", allowed=", ".join(METHODS))
    return method.upper()


def read_headers(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not TOKEN.fullmatch(name):
            raise RequestRefused("header_name", name=name[:80])
        if name.lower() in OWN_HEADERS or name.lower().startswith("proxy-"):
            raise RequestRefused("header_reserved", name=name)
        if not VALUE.fullmatch(value):
            raise RequestRefused("header_value", name=name)
    return dict(headers)
