"""Decides which addresses and ports may be reached. Pure: nothing is resolved or opened."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

# An explicit list, since `ipaddress.is_global` differs between Python releases.
# From the IANA registries of special-purpose addresses.
INNER_V4 = [
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # "this network"; 0.0.0.0 reaches the machine itself
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT, also the metadata service of some clouds
        "127.0.0.0/8",
        "169.254.0.0/16",  # link-local, with the metadata services
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
]
# All of IPv6 that is routed today, without loopback, unique local, link-local and multicast addresses.
ROUTED_V6 = IPv6Network("2000::/3")
INNER_V6 = [
    IPv6Network(network)
    for network in (
        "2001::/23",  # Teredo, ORCHID, benchmarking: tunnels and no hosts
        "2001:db8::/32",
        "2002::/16",  # 6to4 embeds any IPv4 address, and is obsolete
        "3fff::/20",
    )
]
# A network without IPv4 reaches all of it under this prefix: the address inside decides.
NAT64 = IPv6Network("64:ff9b::/96")

# Services above port 1023 that would read the lines of an HTTP request as commands.
REFUSED_PORTS = frozenset(
    {
        1433,  # SQL Server
        1521,  # Oracle
        2049,  # NFS
        3306,  # MySQL
        5432,  # PostgreSQL
        5672,  # AMQP
        6000,  # X11
        6379,  # Redis
        *range(6665, 6670),  # IRC
        9042,  # Cassandra
        11211,  # memcached
        27017,  # MongoDB
    }
)


def is_public(address: str) -> bool:
    return _is_outside(ip_address(address))


def _is_outside(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in INNER_V4)
    inside = embedded_v4(address)
    if inside is not None:
        return _is_outside(inside)
    return address in ROUTED_V6 and not any(address in network for network in INNER_V6)


def embedded_v4(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 host that a connection to this address would reach."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return IPv4Address(int(address) & 0xFFFF_FFFF) if address in NAT64 else None


def is_port_open_to_all(port: int) -> bool:
    """Whether a port is 80, 443, or neither a system port nor one of those above."""
    return port in (80, 443) or (1024 <= port <= 65_535 and port not in REFUSED_PORTS)


@dataclass(frozen=True)
class Allowance:
    """Exceptions for inner addresses. A network waives the check of the address, an endpoint that of the port
    too."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    endpoints: frozenset[tuple[str, int]] = frozenset()

    @classmethod
    def parse(cls, entries: Sequence[str]) -> "Allowance":
        """Parse networks (`10.1.0.0/16`, `10.1.2.3`) and endpoints (`inner.example:8080`, `[::1]:80`)."""
        return _parse(tuple(entries))

    def may_reach(self, host: str, port: int, address: str) -> bool:
        if (host.lower().rstrip("."), port) in self.endpoints:
            return True
        if not is_port_open_to_all(port):
            return False
        parsed = ip_address(address)
        if isinstance(parsed, IPv6Address):
            parsed = embedded_v4(parsed) or parsed
        return any(parsed in network for network in self.networks) or is_public(address)


@lru_cache(maxsize=32)
def _parse(entries: tuple[str, ...]) -> Allowance:
    networks, endpoints = [], set()
    for entry in entries:
        try:
            networks.append(ip_network(entry))
        except ValueError:
            endpoints.add(_endpoint(entry))
    return Allowance(tuple(networks), frozenset(endpoints))


def _endpoint(entry: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{entry}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not port or parts.path:
        raise ImproperlyConfigured(
            f"DURE_HTTP_ALLOW lists networks like 10.1.0.0/16 and endpoints like host:8080; got {entry!r}."
        )
    return host.rstrip("."), port
