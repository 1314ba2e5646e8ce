"""The client's address comes from our own proxies, never from the client's headers."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import RequestFactory

from jobs.api.framework.throttling import client_address, parse_rate
from jobs.sockets.authentication import is_own_page


def address_seen(settings, proxies: int, remote: str, forwarded: str | None) -> str:
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "NUM_PROXIES": proxies}
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    return client_address(RequestFactory().get("/", REMOTE_ADDR=remote, headers=headers))


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [
        (0, None, "203.0.113.9"),
        (0, "1.1.1.1", "203.0.113.9"),
        (0, "1.1.1.1, 2.2.2.2", "203.0.113.9"),
        (1, None, "203.0.113.9"),
        (1, "198.51.100.7", "198.51.100.7"),
        (1, "1.1.1.1, 198.51.100.7", "198.51.100.7"),
        (2, "1.1.1.1, 198.51.100.7, 10.0.0.1", "198.51.100.7"),
    ],
)
def test_only_addresses_from_trusted_proxies_count(settings, proxies, forwarded, expected):
    assert address_seen(settings, proxies, "203.0.113.9", forwarded) == expected


def test_an_ipv6_network_counts_as_one_address(settings):
    item = address_seen(settings, 0, "2001:db8:1:2::1", None)
    assert item == address_seen(settings, 0, "2001:db8:1:2:ffff::9", None)
    assert item != address_seen(settings, 0, "2001:db8:1:3::1", None)
    assert address_seen(settings, 0, "::ffff:203.0.113.9", None) == "203.0.113.9"


def test_an_invalid_forwarded_address_is_not_used_as_a_key(settings):
    key = address_seen(settings, 1, "203.0.113.9", "x" * 5000 + "\x01 *")
    assert key.isalnum()
    assert len(key) == 32


def test_rates_are_read_and_a_malformed_one_is_named():
    assert parse_rate("60/min") == (60, 60)
    assert parse_rate("5/s") == (5, 1)
    assert parse_rate("off") is None
    for wrong in ("60", "x/min", "0/min", "-1/min", "60/fortnight", ""):
        with pytest.raises(ImproperlyConfigured, match="60/min"):
            parse_rate(wrong)


@pytest.mark.parametrize(
    ("host", "origin", "ours"),
    [
        ("127.0.0.1:8000", None, True),
        ("127.0.0.1:8000", "http://127.0.0.1:8000", True),
        ("dure.example", "https://dure.example", True),
        ("dure.example", "https://dure.example:443", True),
        ("dure.example", "https://other.example", True),  # a trusted origin of the settings below
        ("127.0.0.1:8000", "http://127.0.0.1:5555", False),
        ("127.0.0.1:8000", "http://localhost:8000", False),
        ("dure.example", "https://dure.example.evil.com", False),
        ("dure.example", "https://evil.com", False),
        ("dure.example", "null", False),
        ("dure.example", "", False),
        ("dure.example", "https://[", False),
        ("dure.example", "file://dure.example", False),
        ("evil.com", None, False),
        ("evil.com", "http://evil.com", False),
        ("", None, False),
    ],
)
def test_a_foreign_page_cannot_open_a_socket(settings, host, origin, ours):
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost", "dure.example"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://other.example"]
    assert is_own_page(host, origin) is ours
