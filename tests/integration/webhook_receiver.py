"""A webhook receiver, as a client would write it: an HTTP server and the official library."""

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

from standardwebhooks import Webhook

from tests.unit.stub_server import Stub, stub


class Receiver:
    def __init__(self) -> None:
        self.answers: list[bytes] = []
        self.silent = False
        self.server: Stub

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}/hook"

    def behave(self, connection: socket.socket, request: bytes) -> None:
        if self.silent:
            # Waits until the client gives up.
            connection.recv(1)
            return
        connection.sendall(self.answers.pop(0) if self.answers else answer("204 No Content"))

    @property
    def messages(self) -> list[tuple[dict[str, str], str]]:
        return [read(request) for request in self.server.requests]

    def verified(self, secret: str) -> list[dict[str, Any]]:
        """The messages so far; raises if one is not signed with this secret."""
        return [Webhook(secret).verify(body, headers) for headers, body in self.messages]

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.messages]


def answer(status: str, *headers: str, body: str = "") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", body]
    return "\r\n".join(lines).encode()


def read(request: bytes) -> tuple[dict[str, str], str]:
    head, _, body = request.partition(b"\r\n\r\n")
    lines = [line.decode().partition(": ") for line in head.split(b"\r\n")[1:]]
    return {name.lower(): value for name, _, value in lines}, body.decode()


@contextlib.contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()
    with stub(receiver.behave) as server:
        receiver.server = server
        yield receiver
