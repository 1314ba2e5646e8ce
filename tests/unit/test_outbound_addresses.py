import ipaddress

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import example, given
from hypothesis import strategies as st

from jobs.http_client.addresses import Allowance, is_port_open_to_all, is_public

INNER = [
    *("0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.254", "169.254.169.254"),
    *("10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "100.127.255.255"),
    *("192.0.0.192", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.1", "203.0.113.1"),
    *("224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "100::1", "2001::1", "2001:db8::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254"),
    *("fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1"),
    # IPv4 within IPv6.
    *("::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1"),
    *("64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:808:808::1"),
]
PUBLIC = [
    *("1.1.1.1", "8.8.8.8", "223.255.255.255"),
    *("100.63.255.255", "100.128.0.1", "172.15.255.255", "172.32.0.1"),
    *("::ffff:8.8.8.8", "64:ff9b::808:808", "2606:4700::1111", "2a00:1450:4001::1", "2400:cb00::1"),
]


@pytest.mark.parametrize("address", INNER)
def test_an_inner_address_is_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_public(address):
    assert is_public(address)


@given(st.ip_addresses())
@example(ipaddress.ip_address("192.31.196.1"))
def test_an_address_that_python_calls_private_or_special_is_not_public(address):
    special = (
        address.is_private,
        address.is_loopback,
        address.is_link_local,
        address.is_multicast,
        address.is_reserved,
        address.is_unspecified,
    )
    mapped = getattr(address, "ipv4_mapped", None)
    nat64 = address in ipaddress.ip_network("64:ff9b::/96")
    if any(special) and mapped is None and not nat64:
        assert not is_public(str(address))


@given(st.integers(0, 2**32 - 1))
def test_an_ipv4_address_embedded_in_ipv6_is_judged_as_ipv4(number):
    inside = ipaddress.IPv4Address(number)
    assert is_public(f"::ffff:{inside}") == is_public(str(inside))
    assert is_public(f"64:ff9b::{number >> 16:x}:{number & 0xFFFF:x}") == is_public(str(inside))


@pytest.mark.parametrize("port", [80, 443, 1024, 8080, 8443, 65_535])
def test_web_ports_are_open(port):
    assert is_port_open_to_all(port)


@pytest.mark.parametrize("port", [-1, 0, 1, 22, 25, 53, 81, 444, 1023, 3306, 5432, 6379, 6667, 11211, 27017])
def test_ports_of_the_system_and_of_databases_are_closed(port):
    assert not is_port_open_to_all(port)


def test_an_allowed_network_waives_the_address_but_not_the_port():
    allow = Allowance.parse(["10.1.0.0/16", "fd00:1::/32"])
    assert allow.may_reach("x.example", 8080, "10.1.2.3")
    assert allow.may_reach("x.example", 8080, "::ffff:10.1.2.3")
    assert allow.may_reach("x.example", 8080, "fd00:1::9")
    assert not allow.may_reach("x.example", 6379, "10.1.2.3")
    assert not allow.may_reach("x.example", 8080, "10.2.0.1")


def test_an_allowed_endpoint_waives_both_for_that_host_and_port_alone():
    allow = Allowance.parse(["Inner.example.:25", "[::1]:6379"])
    assert allow.may_reach("inner.EXAMPLE", 25, "10.0.0.1")
    assert allow.may_reach("::1", 6379, "::1")
    assert not allow.may_reach("inner.example", 26, "10.0.0.1")
    assert not allow.may_reach("other.example", 25, "10.0.0.1")


@pytest.mark.parametrize(
    "entry", ["10.0.0.1/8", "inner.example", "inner.example:0", ":80", "a:b", "x:80/path"]
)
def test_an_invalid_entry_stops_the_start_and_is_named(entry):
    with pytest.raises(ImproperlyConfigured, match="DURE_HTTP_ALLOW") as error:
        Allowance.parse([entry])
    assert entry in str(error.value)
