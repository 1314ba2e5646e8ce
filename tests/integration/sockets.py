"""Sockets of a web process: opened with a token, read frame by frame."""

import json
import time
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

# More than the buffers between the server and a client hold.
BUFFERED_BYTES = 10_000_000


def opened(address: str, path: str, token: str = "", **more):
    headers = {"Authorization": f"Token {token}"} if token else {}
    headers |= more.pop("headers", {})
    # The client's own pings would hide the effect of the heartbeat.
    return connect(address + path, additional_headers=headers, ping_interval=None, open_timeout=60, **more)


def frame(ws) -> Any:
    return json.loads(ws.recv(timeout=60))


def receive(ws) -> Any:
    """The next frame that is no heartbeat: on a busy machine one may come before any other."""
    while (message := frame(ws))["type"] == "heartbeat":
        pass
    return message


def code_of(ws, send: str | None = None) -> int:
    """The close code of the server, within a time; meanwhile the client may send something."""
    deadline = time.monotonic() + 60
    try:
        while (left := deadline - time.monotonic()) > 0:
            ws.send(send) if send else ws.recv(timeout=left)
    except ConnectionClosed as closed:
        assert closed.rcvd is not None, "closed without a code"
        return closed.rcvd.code
    raise AssertionError("The server did not close the socket.")


def code_of_silent_client(ws, seconds: float) -> int:
    """The close code for a client that reads nothing for so long.

    A busy server may have begun to wait for the client only a moment ago. So the client reads what the
    buffers hold, and then nothing again.
    """
    deadline = time.monotonic() + 60
    try:
        while time.monotonic() < deadline:
            time.sleep(seconds)
            received = 0
            while received < BUFFERED_BYTES and time.monotonic() < deadline:
                received += len(ws.recv(timeout=60))
    except ConnectionClosed as closed:
        assert closed.rcvd is not None, "closed without a code"
        return closed.rcvd.code
    raise AssertionError("The server did not close the socket.")
