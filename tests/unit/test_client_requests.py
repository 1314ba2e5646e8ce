"""The client of sdk/ against a server on loopback: repetitions, keys, refusals and downloads."""

import asyncio
import contextlib
import hashlib
import json
import re
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import dure
from dure.requests import ATTEMPTS
from tests.unit.stub_server import Behaviour, Stub, stub

OFFICE = "0199c0de-0000-7000-8000-000000000001"
JOB = {
    "id": "0199c0de-0000-7000-8000-000000000004",
    "office_id": OFFICE,
    "task_id": "demo.sum",
    "status": "done",
    "created_at": "2026-12-01T09:00:00+09:00",
    "result": 6,
    "invented_later": {"a": 1},
}
FILE = bytes(range(256)) * 40
EXPORT = {
    "jobId": 1,
    "jobType": "MP4",
    "replayId": 2,
    "status": "SUCCEEDED",
    "createdAt": "2026-12-01T09:00:00+09:00",
    "checksum": hashlib.sha256(FILE).hexdigest(),
    "sizeBytes": len(FILE),
}


def answer(status: int, document: Any, **headers: str) -> bytes:
    body = json.dumps(document).encode()
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def problem(status: int, code: str, **headers: str) -> bytes:
    return answer(status, {"title": "T", "detail": "Not so.", "code": code, "status": status}, **headers)


def in_turn(*answers: bytes) -> Behaviour:
    """Sends these answers, one for each connection; an empty one closes the connection."""
    left = list(answers)

    def behave(connection: socket.socket, _: bytes) -> None:
        connection.sendall(left.pop(0))

    return behave


def header(request: bytes, name: str) -> str:
    match = re.search(rf"^{name}: (.*?)\r$", request.decode("latin-1"), re.MULTILINE | re.IGNORECASE)
    return match[1] if match else ""


@pytest.fixture(autouse=True)
def no_login(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    for name in ("DURE_URL", "DURE_TOKEN", "DURE_OFFICE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def pauses(monkeypatch) -> list[float]:
    """Records the pauses instead of making them."""
    made: list[float] = []

    async def sleep(_: object, seconds: float) -> None:
        made.append(seconds)

    monkeypatch.setattr("dure.transport.BlockingTransport.sleep", sleep)
    monkeypatch.setattr("dure.transport.AsyncTransport.sleep", sleep)
    return made


@contextlib.contextmanager
def served(behaviour: Behaviour | bytes) -> Iterator[tuple[Stub, dure.Client]]:
    with (
        stub(behaviour) as server,
        dure.Client(f"http://127.0.0.1:{server.port}", "secret", office=OFFICE) as client,
    ):
        yield server, client


def submit(port: int) -> dure.Job:
    with dure.Client(f"http://127.0.0.1:{port}", "secret", office=OFFICE) as client:
        return client.submit("demo.sum", {"numbers": [1, 2, 3]})


def submit_async(port: int) -> dure.Job:
    async def run() -> dure.Job:
        async with dure.AsyncClient(f"http://127.0.0.1:{port}", "secret", office=OFFICE) as client:
            return await client.submit("demo.sum", {"numbers": [1, 2, 3]})

    return asyncio.run(run())


@pytest.mark.parametrize("call", [submit, submit_async])
@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(b"", id="the connection breaks"),
        pytest.param(problem(429, "throttled", Retry_After="7"), id="too many requests"),
        pytest.param(problem(503, "busy", Retry_After="7"), id="unavailable"),
        pytest.param(problem(409, "request_in_progress", Retry_After="7"), id="the first is still processed"),
        pytest.param(
            b"HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            id="a proxy without server",
        ),
    ],
)
def test_a_submission_is_repeated_with_its_key(call: Callable[[int], dure.Job], failure, pauses):
    with stub(in_turn(failure, answer(201, JOB))) as server:
        job = call(server.port)
    assert (job.result, job.succeeded, job.raw["invented_later"]) == (6, True, {"a": 1})
    assert len(server.requests) == 2
    keys = {header(request, "Idempotency-Key") for request in server.requests}
    assert len(keys) == 1
    assert keys != {""}
    assert {header(request, "Authorization") for request in server.requests} == {"Token secret"}
    assert pauses == [7.0] if b"Retry-After" in failure else len(pauses) == 1


def test_two_submissions_have_different_keys():
    with stub(answer(201, JOB)) as server:
        submit(server.port)
        submit(server.port)
    assert len({header(request, "Idempotency-Key") for request in server.requests}) == 2


def test_repetitions_are_bounded(pauses):
    with stub(b"") as server, pytest.raises(dure.ConnectionFailed, match="does not answer"):
        submit(server.port)
    assert server.connections == ATTEMPTS
    assert sum(pauses) < 60


def test_a_server_that_asks_for_a_long_wait_is_not_asked_again(pauses):
    with (
        stub(problem(429, "throttled", Retry_After="3600")) as server,
        pytest.raises(dure.APIError) as refused,
    ):
        submit(server.port)
    assert (refused.value.status, refused.value.code, server.connections, pauses) == (429, "throttled", 1, [])


def test_a_refusal_is_not_repeated_and_names_the_fields():
    document = {"detail": "Bad.", "code": "invalid", "errors": {"task_id": ["There is none."]}}
    with stub(answer(400, document)) as server, pytest.raises(dure.APIError) as refused:
        submit(server.port)
    assert server.connections == 1
    assert (refused.value.code, refused.value.errors) == ("invalid", {"task_id": ["There is none."]})
    assert "task_id: There is none." in str(refused.value)


def test_an_answer_of_another_server_is_an_error_with_a_hint():
    page = b"HTTP/1.1 404 X\r\nContent-Length: 6\r\n\r\n<html>"
    with stub(page) as server, pytest.raises(dure.APIError, match="is the address right") as refused:
        submit(server.port)
    assert refused.value.status == 404


def test_the_token_does_not_follow_a_redirect():
    with stub() as other:
        location = f"http://127.0.0.1:{other.port}/"
        with stub(answer(307, {}, Location=location)) as server, pytest.raises(dure.APIError):
            submit(server.port)
    assert other.connections == 0


def test_an_id_stays_one_part_of_the_path():
    with served(problem(404, "not_found")) as (server, client), pytest.raises(dure.APIError):
        client.job("../../tokens?x=1")
    assert server.requests[0].startswith(f"GET /api/offices/{OFFICE}/jobs/..%2F..%2Ftokens%3Fx%3D1 ".encode())


def test_waiting_ends_at_its_deadline():
    processing = answer(200, JOB | {"status": "processing"})
    with served(processing) as (_, client), pytest.raises(dure.WaitTimeout):
        client.wait(client.job(str(JOB["id"])), timeout=0.05)


def serve_file(breaks_at: int) -> Behaviour:
    """An export of which the first answer breaks off."""
    broken = []

    def behave(connection: socket.socket, request: bytes) -> None:
        if b"/result" not in request.splitlines()[0]:
            connection.sendall(answer(200, EXPORT))
            return
        start = int(header(request, "Range").removeprefix("bytes=").removesuffix("-") or 0)
        rest = FILE[start:]
        status = b"206 Partial Content" if start else b"200 OK"
        connection.sendall(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n" % (status, len(rest)))
        connection.sendall(rest if broken else rest[:breaks_at])
        broken.append(True)

    return behave


def test_a_broken_download_continues_where_it_stopped(tmp_path, pauses):
    with served(serve_file(1000)) as (server, client):
        path = client.download(1, tmp_path / "match.mp4")
    assert path.read_bytes() == FILE
    assert [header(request, "Range") for request in server.requests if b"/result" in request] == [
        "",
        "bytes=1000-",
    ]
    assert list(tmp_path.iterdir()) == [path]


def test_a_download_continues_and_checks_what_an_earlier_one_left(tmp_path):
    (tmp_path / "match.mp4.part").write_bytes(b"x" * 100)
    with served(serve_file(len(FILE))) as (_, client):
        with pytest.raises(dure.DownloadFailed):
            client.download(1, tmp_path / "match.mp4")
        assert client.download(1, tmp_path / "match.mp4").read_bytes() == FILE
