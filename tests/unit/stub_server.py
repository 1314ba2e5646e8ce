"""A server on loopback that treats each connection as the test says, and counts them."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator

Behaviour = Callable[[socket.socket, bytes], None]

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"


class Stub:
    def __init__(self, behaviour: Behaviour, host: str, port: int, tls: ssl.SSLContext | None) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.create_server((host, port), family=family, dualstack_ipv6=host == "::")
        self.port = int(self.listener.getsockname()[1])
        self.connections = 0
        self.requests: list[bytes] = []
        self._behaviour, self._tls = behaviour, tls
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), contextlib.closing(connection):
            connection.settimeout(10)
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection:
                request = self._read(connection)
                self.requests.append(request)
                self._behaviour(connection, request)

    def _read(self, connection: socket.socket) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data:
            if not (piece := connection.recv(65_536)):
                return data
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
        )
        while len(body) < length and (piece := connection.recv(65_536)):
            body += piece
        return head + b"\r\n\r\n" + body


def answering(response: bytes) -> Behaviour:
    return lambda connection, _: connection.sendall(response)


@contextlib.contextmanager
def stub(
    behaviour: Behaviour | bytes = OK,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: ssl.SSLContext | None = None,
) -> Iterator[Stub]:
    server = Stub(answering(behaviour) if isinstance(behaviour, bytes) else behaviour, host, port, tls)
    try:
        yield server
    finally:
        server.listener.shutdown(socket.SHUT_RDWR)
        server.listener.close()
