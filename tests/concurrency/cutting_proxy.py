"""A TCP proxy before PostgreSQL that can cut a connection between a COMMIT and its answer."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from django.db import connection


class CuttingProxy:
    """Forwards everything; after a request with `trigger` in it, cuts the connection before the answer."""

    def __init__(self, host: str, port: int) -> None:
        self.server = (host, port)
        self.trigger: bytes | None = None
        self.cuts = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def cut_after(self, trigger: bytes) -> None:
        self.trigger = trigger

    def accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        cutting = threading.Event()
        with closing(client), closing(self.connect()) as server:
            back = threading.Thread(target=self.answer, args=(server, client, cutting), daemon=True)
            back.start()
            with suppress(OSError):
                while data := client.recv(65_536):
                    if self.trigger is not None and self.trigger in data:
                        self.trigger = None
                        cutting.set()
                    server.sendall(data)
            self.cut_connection(server)
            back.join(10)

    def answer(self, server: socket.socket, client: socket.socket, cutting: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(65_536):
                if cutting.is_set():
                    # The server answers a statement when it has committed: now it has.
                    self.cuts += 1
                    break
                client.sendall(data)
        self.cut_connection(client)

    def cut_connection(self, line: socket.socket) -> None:
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)

    def connect(self) -> socket.socket:
        host, port = self.server
        if host.startswith("/"):
            line = socket.socket(socket.AF_UNIX)
            line.connect(f"{host}/.s.PGSQL.{port}")
            return line
        return socket.create_connection((host, port))


@contextmanager
def proxied() -> Iterator[CuttingProxy]:
    """This thread's connection goes through the proxy. Use it in a thread of its own."""
    settings = connection.settings_dict
    proxy = CuttingProxy(str(settings["HOST"]), int(settings["PORT"] or 5432))
    connection.settings_dict = {**settings, "HOST": "127.0.0.1", "PORT": str(proxy.port)}
    try:
        yield proxy
    finally:
        connection.close()
        connection.settings_dict = settings
        proxy.listener.close()
