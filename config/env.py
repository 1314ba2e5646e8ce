"""Reads settings from environment variables. A malformed value is an error that names its variable."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

N = TypeVar("N", int, float)

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off"}


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def flag(name: str, default: bool = False) -> bool:
    value = text(name).lower()
    if not value:
        return default
    if value in TRUE | FALSE:
        return value in TRUE
    raise ImproperlyConfigured(f"{name} must be one of true, false, 1, 0, yes, no; got {value!r}.")


def integer(name: str, default: int, *, low: int = 0, high: int = 2**31 - 1) -> int:
    return _number(name, default, int, low, high, kind="a whole number")


def port(name: str, default: int) -> int:
    return integer(name, default, low=1, high=65_535)


def seconds(name: str, default: float, *, low: float = 0.05, high: float = 86_400.0) -> float:
    return _number(name, default, float, low, high, kind="a number of seconds", unit=" seconds")


def _number(
    name: str, default: N, parse: Callable[[str], N], low: N, high: N, *, kind: str, unit: str = ""
) -> N:
    value = text(name)
    if not value:
        return default
    try:
        number = parse(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be {kind}; got {value!r}.") from None
    if not low <= number <= high:
        raise ImproperlyConfigured(f"{name} must be between {low} and {high}{unit}; got {number}.")
    return number


def words(name: str, default: tuple[str, ...] = ()) -> list[str]:
    """A comma-separated list."""
    value = text(name)
    return [word.strip() for word in value.split(",") if word.strip()] if value else list(default)


def choice(name: str, default: str, allowed: tuple[str, ...]) -> str:
    value = text(name, default)
    if value not in allowed:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(allowed)}; got {value!r}.")
    return value


def issuer(name: str, *, http: bool) -> str:
    """The address of an OpenID provider, exactly as it names itself; plain HTTP only where it is allowed."""
    url = text(name)
    if not url:
        return ""
    with _reading_url(name):
        parts = urlsplit(url)
        _ = parts.port
    schemes = ("https", "http") if http else ("https",)
    if (
        parts.scheme not in schemes
        or not parts.hostname
        or parts.query
        or parts.fragment
        or "@" in parts.netloc
    ):
        raise ImproperlyConfigured(f"{name} must look like https://id.example/realm; got {url!r}.")
    return url


@contextmanager
def _reading_url(name: str) -> Iterator[None]:
    """What is no URL is refused by the name of its variable."""
    try:
        yield
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} is not a URL: {error}.") from None


def folder(name: str, default: Path) -> Path:
    return Path(text(name, str(default))).expanduser().absolute()


def postgres(name: str, default: str) -> dict[str, Any]:
    """Django's settings of the database that a postgresql:// URL names.

    A host that starts with / is a socket's folder; the URL has it as `?host=/run/postgresql`. Several hosts
    have commas between, as in libpq: a primary and its standbys.
    """
    url = text(name, default)
    with _reading_url(name):
        parts = urlsplit(url)
        hosts, ports = _hosts(parts.netloc.rpartition("@")[2])
    if parts.scheme not in ("postgres", "postgresql"):
        raise ImproperlyConfigured(
            f"{name} must look like postgresql://user:password@host:5432/name; "
            f"its scheme is {parts.scheme or 'missing'!r}."
        )
    query = dict(pair.partition("=")[::2] for pair in parts.query.split("&") if pair)
    host = unquote(query.pop("host", "")) or hosts
    port_text = unquote(query.pop("port", "")) or ports
    database = unquote(parts.path.lstrip("/"))
    if not database:
        raise ImproperlyConfigured(f"{name} names no database: it must end in /name.")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": port_text,
        "OPTIONS": {key: unquote(value) for key, value in query.items()},
    }


def _hosts(netloc: str) -> tuple[str, str]:
    """The hosts and the ports, each with commas between; a port that is missing is libpq's default."""
    parts = [urlsplit(f"//{each}") for each in netloc.split(",")]
    ports = [str(part.port or "") for part in parts]
    return ",".join(part.hostname or "" for part in parts), ",".join(ports) if any(ports) else ""


def redis(name: str, default: str) -> str:
    url = text(name, default)
    with _reading_url(name):
        parts = urlsplit(url)
        _ = parts.port
    if parts.scheme not in ("redis", "rediss") or not parts.hostname:
        raise ImproperlyConfigured(
            f"{name} must look like redis://:password@host:6379/0; "
            f"its scheme is {parts.scheme or 'missing'!r}."
        )
    return url
