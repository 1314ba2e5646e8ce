"""The web process: `python -m config.web`. HOST and PORT set the address it listens on.

All options of uvicorn are set here, with their reasons.
"""

import signal
import socket
import sys

import uvicorn

from config import env

HOST = env.text("HOST", "127.0.0.1")
PORT = env.port("PORT", 8000)


def main() -> None:
    # uvicorn raises the signal again after it has stopped; a clean stop should exit with 0.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    server = uvicorn.Server(configuration())
    listener = server.config.bind_socket()
    # asyncio sets this on sockets that it creates itself; without it an answer waits 40 ms for an ACK.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        # Disconnects a client that has read nothing for this long; a paused video may take a while.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 120_000)
    server.run(sockets=[listener])


def configuration() -> uvicorn.Config:
    return uvicorn.Config(
        "config.asgi:application",
        host=HOST,
        port=PORT,
        # uvicorn would trust X-Forwarded-For of every local process; DURE_PROXIES decides instead.
        proxy_headers=False,
        server_header=False,
        lifespan="off",
        # settings.LOGGING has the handlers, which remove secrets and add the request's id.
        log_config=None,
        access_log=False,
        ws_max_size=16 * 1024,
        # Events are small; a compressor for each socket costs more than it saves.
        ws_per_message_deflate=False,
        # Longer than proxies keep an idle connection, so that the proxy closes it first.
        timeout_keep_alive=75,
        # uvicorn closes sockets with 1012 at once, and waits this long for requests.
        timeout_graceful_shutdown=10,
    )


if __name__ == "__main__":
    main()
