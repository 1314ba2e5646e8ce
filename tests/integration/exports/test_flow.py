"""The whole flow, against the real web process and a real Redis; the test acts as the worker.

Upload → ask → watch the socket → download. A foreign worker needs the streams and nothing else.
"""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect as connect_async

from exports import sample_replay
from exports.models import ExportEvent, ExportJob
from tests.integration import export_tools as tools
from tests.integration.exports.live_web import resident_bytes, socket_of, start, token_of
from tests.integration.exports.outcomes import finished
from tests.integration.sockets import receive
from tests.integration.web_process import Web

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis", "fresh_counts")]
LOG = "\n".join(sample_replay.event_log(1)).encode()
GIB = 2**30


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made: Path = tmp_path_factory.mktemp("flow")
    return made


@pytest.fixture(scope="module")
def web(folder, django_db_setup):
    with start(folder, DURE_RATE_USER="1000000/min") as process:
        yield process


@pytest.fixture
def folders(settings, folder):
    """The sockets of the web process."""
    tools.roots(settings, folder)


def send(web: Web, method: str, path: str, token: str, body: bytes = b"", kind: str = "application/json"):
    headers = {"Authorization": f"Token {token}", "Content-Type": kind}
    answer = web.request(method, path, body, headers)
    return answer.status, answer.read(), answer.headers


def multipart(content: bytes) -> tuple[bytes, str]:
    name = b'Content-Disposition: form-data; name="file"; filename="match.jsonl"\r\n\r\n'
    return b"--b\r\n" + name + content + b"\r\n--b--\r\n", "multipart/form-data; boundary=b"


def test_an_export_goes_from_upload_to_download(web, redis, minji) -> None:
    token, worker = token_of(minji), tools.ForeignWorker(redis)
    listener = tools.listen(redis)
    status, body, _ = send(web, "POST", "/api/replays", token, *multipart(LOG))
    assert status == 201, body
    replay_id = json.loads(body)["replayId"]
    with socket_of(web, token) as ws:
        assert receive(ws) == {"type": "snapshot", "last_id": 0, "data": {"jobs": []}}
        status, body, _ = send(web, "POST", f"/api/replays/{replay_id}/exports/mp4", token)
        assert status == 202
        job = ExportJob.objects.get(pk=json.loads(body)["jobId"])
        tools.drain(listener)
        assert redis.xlen("job.requests") == 1
        worker.progress(job, 5, "PREPARING")
        worker.progress(job, 55, "RENDERING")
        tools.drain(listener)
        events = [receive(ws), receive(ws)]
        assert [(e["type"], e["jobId"], e["progress"], e["phase"]) for e in events] == [
            ("job.progress", job.pk, 5, "PREPARING"),
            ("job.progress", job.pk, 55, "RENDERING"),
        ]
        worker.deliver(job, b"film" * 1000)
        tools.drain(listener)
        done = receive(ws)
        assert (done["type"], done["status"], done["progress"]) == ("job.completed", "SUCCEEDED", 100)
        assert [*(event["id"] for event in events), done["id"]] == sorted(
            ExportEvent.objects.values_list("id", flat=True)
        )
    status, body, headers = send(web, "GET", done["resultUri"], token)
    assert (status, body, headers["ETag"]) == (200, b"film" * 1000, f'"{done["checksum"]}"')
    with socket_of(web, token, f"?after={events[0]['id']}") as ws:
        assert receive(ws)["last_id"] == events[0]["id"]
        assert [receive(ws)["id"], receive(ws)["id"]] == [events[1]["id"], done["id"]]


def test_the_socket_sends_the_users_own_exports_only(web, redis, minji) -> None:
    jisoo = tools.user("jisoo")
    listener, worker = tools.listen(redis), tools.ForeignWorker(redis)
    theirs, mine = tools.export_of(jisoo), tools.export_of(minji)
    with socket_of(web, token_of(minji)) as ws:
        assert [item["jobId"] for item in receive(ws)["data"]["jobs"]] == [mine.pk]
        worker.progress(theirs, 10)
        worker.progress(mine, 20)
        tools.drain(listener)
        assert receive(ws)["jobId"] == mine.pk


def test_an_event_reaches_a_hundred_sockets(web, redis, minji) -> None:
    """tests/bench/exports.py measures five hundred sockets."""
    listener, worker, job = tools.listen(redis), tools.ForeignWorker(redis), tools.export_of(minji)
    headers = {"Authorization": f"Token {token_of(minji)}"}
    address = f"ws://127.0.0.1:{web.port}/ws/jobs"

    async def run_clients() -> list[Any]:
        sockets = [
            await connect_async(address, additional_headers=headers, ping_interval=None, open_timeout=60)
            for _ in range(100)
        ]
        try:
            for ws in sockets:
                assert (await next_message(ws))["type"] == "snapshot"
            worker.progress(job, 10)
            await asyncio.to_thread(in_thread, listener)
            async with asyncio.timeout(60):
                return [await next_message(ws) for ws in sockets]
        finally:
            for ws in sockets:
                await ws.close()

    assert {(event["type"], event["progress"]) for event in asyncio.run(run_clients())} == {
        ("job.progress", 10)
    }


async def next_message(ws) -> Any:
    """The next one that is no heartbeat: opening all of the sockets may take longer than the first one's."""
    while (message := json.loads(await ws.recv()))["type"] == "heartbeat":
        pass
    return message


def in_thread(listener) -> None:
    from django.db import connection

    try:
        tools.drain(listener)
    finally:
        connection.close()


def test_a_gibibyte_is_downloaded_in_little_memory(web, minji, folder) -> None:
    job = finished(tools.export_of(minji))
    os.truncate(folder / "exports" / Path(*job.output), GIB)
    ExportJob.objects.filter(pk=job.pk).update(result_size=GIB)
    token = token_of(minji)
    send(web, "GET", f"/api/jobs/{job.pk}", token)
    before, most, got = resident_bytes(web), 0, 0
    answer = web.request("GET", f"/api/jobs/{job.pk}/result", b"", {"Authorization": f"Token {token}"})
    while chunk := answer.read(4 * 2**20):
        got += len(chunk)
        if got % (64 * 2**20) == 0:
            most = max(most, resident_bytes(web))
    assert got == GIB
    assert most - before < 32 * 2**20, f"grew by {(most - before) / 2**20:.0f} MiB"
