"""Limits how often an address, a user or an account may ask; settings.REST_FRAMEWORK has the rates.

A count belongs to the address that our own proxies report and to nothing a client can write: with
DURE_PROXIES=0 no X-Forwarded-For counts. While Redis is away everything passes.
"""

import hashlib
import ipaddress
from functools import cache
from typing import TYPE_CHECKING

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.throttling import BaseThrottle

from jobs.api.framework.counters import counters

if TYPE_CHECKING:
    # DRF's views import this module by its name in the settings.
    from rest_framework.views import APIView

PERIODS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "hour": 3600, "d": 86_400, "day": 86_400}


@cache
def parsed(rate: str) -> tuple[int, int] | None:
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
        parsed(str(rate))


def wait_of(scope: str, who: str) -> float | None:
    """Counts one hit; the seconds to wait when that was one too many."""
    rate = parsed(str(api_settings.DEFAULT_THROTTLE_RATES[scope]))
    if rate is None:
        return None
    allowed, window = rate
    counted = counters().hit(f"{scope}:{who}", window)
    return counted.seconds_left if counted and counted.count > allowed else None


def address_of(request: HttpRequest | Request) -> str:
    """Who asks, as far as an address says it. A home has a whole /64 of IPv6 addresses, so that is one."""
    given = BaseThrottle().get_ident(request) or ""  # type: ignore[arg-type]
    try:
        address = ipaddress.ip_address(given)
    except ValueError:
        return hashlib.sha256(given.encode()).hexdigest()[:32]
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False).network_address)
    return str(address)


class Throttle(BaseThrottle):
    scope = ""
    seconds: float | None = None

    def who(self, request: Request) -> str | None:
        raise NotImplementedError

    def allow_request(self, request: Request, view: "APIView") -> bool:
        who = self.who(request)
        self.seconds = wait_of(self.scope, who) if who else None
        return self.seconds is None

    def wait(self) -> float | None:
        return self.seconds


class AnonymousThrottle(Throttle):
    """For the few views that answer without credentials."""

    scope = "anonymous"

    def who(self, request: Request) -> str | None:
        return None if request.user and request.user.is_authenticated else address_of(request)


class UserThrottle(Throttle):
    scope = "user"

    def who(self, request: Request) -> str | None:
        return str(request.user.pk) if request.user and request.user.is_authenticated else None


def refused(request: Request) -> float | None:
    """Counts an answer of 401."""
    return wait_of("refused", address_of(request))


def login(request: HttpRequest, username: str) -> float | None:
    """Counts an attempt to sign in, before the password is looked at; the seconds to wait, if any.

    By account, so that many addresses do not help, and by address, so that many accounts do not.
    """
    waits = (wait_of("login", _account(username)), wait_of("login", f"address:{address_of(request)}"))
    return max((wait for wait in waits if wait is not None), default=None)


def login_succeeded(username: str) -> None:
    """Whoever knows the password starts anew."""
    counters().forget(f"login:{_account(username)}")


def _account(username: str) -> str:
    return "account:" + hashlib.sha256(username.strip().lower().encode()).hexdigest()[:32]
