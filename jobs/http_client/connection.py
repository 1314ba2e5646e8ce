"""Connects to checked addresses, with one deadline for everything together.

http.client gives each read the whole time-out again, so that one byte a second lasts for ever.
"""

import io
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from functools import lru_cache

Resolver = Callable[[str, int], list[str]]

CHUNK = 65_536
# A dead address among several must not use up the time of the others.
CONNECT_SECONDS = 10.0


class Deadline:
    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds

    def seconds_left(self) -> float:
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time is up")
        return left


class DeadlineSocket:
    """The methods of a socket that http.client needs. The caller that opened the socket closes it."""

    def __init__(self, sock: socket.socket, deadline: Deadline, max_bytes: int) -> None:
        self._sock, self._deadline, self._max_bytes = sock, deadline, max_bytes

    def sendall(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self._sock.settimeout(self._deadline.seconds_left())
            rest = rest[self._sock.send(rest[:CHUNK]) :]

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self._sock, self._deadline, self._max_bytes), CHUNK)

    def close(self) -> None:
        pass


class _Reader(io.RawIOBase):
    def __init__(self, sock: socket.socket, deadline: Deadline, max_bytes: int) -> None:
        self._sock, self._deadline, self._bytes_left = sock, deadline, max_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        # A chunk that claims a negative size makes http.client read to the end of an endless stream.
        if self._bytes_left <= 0:
            raise ConnectionAbortedError("the answer is too long")
        self._sock.settimeout(self._deadline.seconds_left())
        count = self._sock.recv_into(buffer)
        self._bytes_left -= count
        return count


def addresses_of(host: str, port: int) -> list[str]:
    results = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(address[0]) for *_, address in results))


def connect(addresses: Sequence[str], port: int, deadline: Deadline) -> socket.socket:
    """Connect to the first address that answers. They are numeric: nothing is resolved again."""
    last_error = OSError("no address")
    for address in addresses:
        sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        try:
            sock.settimeout(min(deadline.seconds_left(), CONNECT_SECONDS))
            sock.connect((address, port))
        except OSError as error:
            sock.close()
            last_error = error
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise last_error


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def encrypt(sock: socket.socket, host: str, deadline: Deadline) -> ssl.SSLSocket:
    """Start TLS. The certificate must be valid for the URL's host, at any of its addresses."""
    sock.settimeout(deadline.seconds_left())
    return _tls().wrap_socket(sock, server_hostname=host.rstrip("."))
