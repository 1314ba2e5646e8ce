"""Limits how often an address, a user or an account may send requests; settings.REST_FRAMEWORK has the rates.

A count belongs to the address that our own proxies report and to nothing a client can write: with
DURE_PROXIES=0 no X-Forwarded-For counts. While Redis is away every request passes.

DRF's SimpleRateThrottle reads a history from the cache and writes it back, so of fifty requests at once
all may pass. These counts are atomic.
"""

import hashlib
import ipaddress
import logging
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.throttling import BaseThrottle

from jobs import redis

if TYPE_CHECKING:
    # DRF's views import this module by its name in the settings.
    from rest_framework.views import APIView

log = logging.getLogger(__name__)

PERIODS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "hour": 3600, "d": 86_400, "day": 86_400}
KEY_PREFIX = "dure:count:"
# After a failure no request waits for Redis again until this long has passed.
OUTAGE_PAUSE_SECONDS = 5.0


# --- Counts --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Count:
    hits: int
    seconds_left: float


class Counter:
    """Fixed windows that begin with their first hit. One round trip a hit, none while Redis is away."""

    def __init__(self, url: str) -> None:
        self.redis = redis.connect(redis.THROTTLE, url)
        self._away_until = 0.0

    def hit(self, name: str, window_seconds: int) -> Count | None:
        """The hits of this window so far, including this one; None while Redis does not answer."""
        if time.monotonic() < self._away_until:
            return None
        key = KEY_PREFIX + name
        try:
            with self.redis.pipeline(transaction=True) as pipeline:
                pipeline.set(key, 0, ex=window_seconds, nx=True)
                pipeline.incr(key)
                pipeline.pttl(key)
                _, hits, milliseconds = pipeline.execute()
        except redis.ERRORS as error:
            if not self._away_until:
                log.warning("Redis does not answer, so nothing is throttled: %s", error)
            self._away_until = time.monotonic() + OUTAGE_PAUSE_SECONDS
            return None
        if self._away_until:
            log.warning("Redis answers again; requests are throttled.")
            self._away_until = 0.0
        return Count(int(hits), max(0, int(milliseconds)) / 1000)

    def reset(self, name: str) -> None:
        try:
            self.redis.delete(KEY_PREFIX + name)
        except redis.ERRORS:
            return  # Redis expires the window


@cache
def _counter(url: str) -> Counter:
    return Counter(url)


def counter() -> Counter:
    return _counter(settings.REDIS_URL)


# --- Rates ---------------------------------------------------------------------------------------


@cache
def parse_rate(rate: str) -> tuple[int, int] | None:
    """`60/min` as (60, 60); None for `off`."""
    if rate == "off":
        return None
    number, _, period = rate.partition("/")
    if not number.isdecimal() or int(number) < 1 or period not in PERIODS:
        raise ImproperlyConfigured(
            f"A rate must look like 60/min (or /s, /h, /d) or be the word off; got {rate!r}."
        )
    return int(number), PERIODS[period]


def check_rates() -> None:
    """A malformed rate stops the start, not the first request."""
    for rate in api_settings.DEFAULT_THROTTLE_RATES.values():
        parse_rate(str(rate))


def count_request(scope: str, ident: str) -> float | None:
    """Count one request; the seconds to wait if it exceeds the scope's rate."""
    rate = parse_rate(str(api_settings.DEFAULT_THROTTLE_RATES[scope]))
    if rate is None:
        return None
    allowed, window = rate
    count = counter().hit(f"{scope}:{ident}", window)
    return count.seconds_left if count and count.hits > allowed else None


def client_address(request: HttpRequest | Request) -> str:
    """The client's address. A household usually has a whole /64 of IPv6, which counts as one address."""
    ident = BaseThrottle().get_ident(request) or ""  # type: ignore[arg-type]
    try:
        address = ipaddress.ip_address(ident)
    except ValueError:
        return hashlib.sha256(ident.encode()).hexdigest()[:32]
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False).network_address)
    return str(address)


# --- DRF's throttles -----------------------------------------------------------------------------


class Throttle(BaseThrottle):
    scope = ""
    seconds: float | None = None

    def ident(self, request: Request) -> str | None:
        """The client that the request is counted for; None: it is not counted in this scope."""
        raise NotImplementedError

    def allow_request(self, request: Request, view: "APIView") -> bool:
        ident = self.ident(request)
        self.seconds = count_request(self.scope, ident) if ident else None
        return self.seconds is None

    def wait(self) -> float | None:
        return self.seconds


class AnonymousThrottle(Throttle):
    """The rate of the few views that answer without credentials."""

    scope = "anonymous"

    def ident(self, request: Request) -> str | None:
        return None if request.user and request.user.is_authenticated else client_address(request)


class UserThrottle(Throttle):
    scope = "user"

    def ident(self, request: Request) -> str | None:
        return str(request.user.pk) if request.user and request.user.is_authenticated else None


# --- Credentials ---------------------------------------------------------------------------------


def count_unauthorized(request: Request) -> float | None:
    """Count an answer of 401."""
    return count_request("refused", client_address(request))


def count_anonymous(request: HttpRequest) -> float | None:
    """Count a request that names no account, by address; the seconds to wait, if any."""
    return count_request("anonymous", client_address(request))


def count_login(request: HttpRequest, username: str) -> float | None:
    """Count an attempt to sign in, before the password is checked; the seconds to wait, if any."""
    return _count_attempt("login", request, username)


def count_reset(request: HttpRequest, email: str) -> float | None:
    """Count a request of a link for a new password; the seconds to wait, if any."""
    return _count_attempt("reset", request, email)


def _count_attempt(scope: str, request: HttpRequest, account: str) -> float | None:
    """By account, so that many addresses do not help, and by address, so that many accounts do not."""
    idents = (_account(account), f"address:{client_address(request)}")
    waits = [count_request(scope, ident) for ident in idents]
    return max((wait for wait in waits if wait is not None), default=None)


def reset_login(username: str) -> None:
    """Reset the account's attempts after a successful sign-in."""
    counter().reset(f"login:{_account(username)}")


def _account(username: str) -> str:
    return "account:" + hashlib.sha256(username.strip().lower().encode()).hexdigest()[:32]
