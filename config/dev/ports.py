"""Ports of this machine."""

import errno
import random
import socket
from contextlib import closing

LOOPBACK = "127.0.0.1"
# Below the ports that Linux and macOS give to outgoing connections: one of those could be in use before
# the server listens.
FIRST, LAST = 20_000, 32_000


def free_port() -> int:
    for port in random.sample(range(FIRST, LAST), 100):
        if not problem(port):
            return port
    raise OSError(errno.EADDRINUSE, f"no port from {FIRST} to {LAST} is free")


def is_local(host: str) -> bool:
    """Whether a server here may listen on this address at all."""
    try:
        _try(0, host)
    except OSError:
        return False
    return True


def problem(port: int, host: str = LOOPBACK) -> str:
    """The reason why a server cannot listen on a port; empty if it can."""
    try:
        _try(port, host)
    except OSError as error:
        return "it is taken" if error.errno == errno.EADDRINUSE else str(error.strerror)
    return ""


def _try(port: int, host: str) -> None:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with closing(socket.socket(family, kind, protocol)) as probe:
        # Closed connections of a former server linger and do not matter.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)
        probe.listen()
