"""A connection on which everything together ends at one deadline.

http.client gives each read the whole time-out again, so that one byte a second lasts for ever.
"""

import io
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from queue import Empty, SimpleQueue

Resolver = Callable[[str, int], list[str]]

CHUNK = 65_536
# A dead address among several must not use up the time of the others.
CONNECT_SECONDS = 10.0


class Deadline:
    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds

    def left(self) -> float:
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time is up")
        return left


class Wire:
    """What http.client needs of a socket. Closing is left to whoever opened the socket."""

    def __init__(self, sock: socket.socket, deadline: Deadline, budget: int) -> None:
        self._sock, self._deadline, self._budget = sock, deadline, budget

    def sendall(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self._sock.settimeout(self._deadline.left())
            rest = rest[self._sock.send(rest[:CHUNK]) :]

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self._sock, self._deadline, self._budget), CHUNK)

    def close(self) -> None:
        pass


class _Reader(io.RawIOBase):
    def __init__(self, sock: socket.socket, deadline: Deadline, budget: int) -> None:
        self._sock, self._deadline, self._budget = sock, deadline, budget

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        # A chunk that claims a negative size makes http.client read to the end of an endless stream.
        if self._budget <= 0:
            raise ConnectionAbortedError("the answer is too long")
        self._sock.settimeout(self._deadline.left())
        count = self._sock.recv_into(buffer)
        self._budget -= count
        return count


def addresses_of(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def resolve(resolver: Resolver, host: str, port: int, deadline: Deadline) -> list[str]:
    """Asks once. In a thread, since a name service that hangs knows no deadline, nor signals."""
    answers: SimpleQueue[list[str] | Exception] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put(resolver(host, port))
        except Exception as error:
            answers.put(error)  # raised again by whoever waits

    threading.Thread(target=ask, name="resolve", daemon=True).start()
    try:
        answer = answers.get(timeout=deadline.left())
    except Empty:
        raise TimeoutError("the time is up") from None
    if isinstance(answer, Exception):
        raise answer
    return answer


def connect(addresses: Sequence[str], port: int, deadline: Deadline) -> socket.socket:
    """To the first of these addresses that answers. They are numbers: nothing is resolved again."""
    problem = OSError("no address")
    for address in addresses:
        sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        try:
            sock.settimeout(min(deadline.left(), CONNECT_SECONDS))
            sock.connect((address, port))
        except OSError as error:
            sock.close()
            problem = error
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise problem


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def encrypt(sock: socket.socket, host: str, deadline: Deadline) -> ssl.SSLSocket:
    """The certificate must be valid for the host of the URL, whichever address was connected to."""
    sock.settimeout(deadline.left())
    return _tls().wrap_socket(sock, server_hostname=host.rstrip("."))
