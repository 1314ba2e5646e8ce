"""/ws/jobs on the real web process: heartbeats and closing."""

import asyncio
import signal
import socket
from typing import Any

import pytest
from django.conf import settings as live_settings
from django.contrib.auth.models import User
from django.utils import timezone
from websockets.sync.client import ClientConnection

from exports import listener, streams
from exports.events import CHANNEL
from exports.models import ExportEvent
from jobs import pubsub
from jobs.sockets.subscriber import Subscriber
from tests.integration import export_tools as tools
from tests.integration.exports.live_web import resident_bytes, socket_of, start, token_of
from tests.integration.sockets import code_of, code_of_silent_client, frame, receive
from tests.integration.web_process import Web
from tests.workers import eventually

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis", "fresh_counts")]
IN_A_HURRY = "tests.integration.export_web_process"
MIB = 2**20


@pytest.fixture(scope="module")
def web(tmp_path_factory, django_db_setup):
    with start(tmp_path_factory.mktemp("sockets"), IN_A_HURRY) as process:
        yield process


def opened(web: Web, user: User, query: str = "", **more: Any) -> ClientConnection:
    return socket_of(web, token_of(user), query, **more)


def write_events(user: User, count: int = 1, filler: str = "") -> list[int]:
    """Events of an export of the user, as the listener writes them."""
    now = timezone.now()
    data = {"jobId": 1, "filler": filler}
    rows = [ExportEvent(owner=user, job_id=1, type="job.progress", data=data, at=now) for _ in range(count)]
    ids = [row.pk for row in ExportEvent.objects.bulk_create(rows, batch_size=50)]
    pubsub.publish_to([CHANNEL.format(user.pk)])
    return ids


# --- Silence -------------------------------------------------------------------------------------


def subscribers(redis) -> set[str]:
    """The connections of our Redis database that have a subscription."""
    number = redis.connection_pool.connection_kwargs.get("db", 0)
    listening = redis.client_list(_type="pubsub")
    return {client["id"] for client in listening if int(client["db"]) == int(number) and int(client["sub"])}


@pytest.mark.parametrize("pings", [None, 0.3])
def test_a_silent_socket_keeps_its_connection_and_its_subscription(web, redis, minji, pings) -> None:
    """Three times the time after which the server asks whether Redis is there; a proxy's or a client's own
    pings change nothing."""
    eventually(lambda: not subscribers(redis), what="the end of the subscription of an earlier test")
    with opened(web, minji, ping_interval=pings) as ws:
        assert frame(ws)["type"] == "snapshot"
        (connection,) = eventually(lambda: subscribers(redis))
        assert {frame(ws)["type"] for _ in range(14)} == {"heartbeat"}
        assert subscribers(redis) == {connection}
        (expected,) = write_events(minji)
        assert receive(ws)["id"] == expected  # published: the sockets of this process do not poll


def test_a_subscription_has_no_timeout() -> None:
    """redis-py 8 has a timeout of five seconds by default."""

    async def timeout_of_the_connection() -> tuple[Any, Any]:
        subscriber, called = Subscriber(live_settings.REDIS_URL), asyncio.Event()
        await subscriber.subscribe(CHANNEL.format(0), called.set)
        try:
            async with asyncio.timeout(60):
                await called.wait()
            connection = subscriber._pubsub.connection
            return connection.socket_timeout, connection.socket_keepalive
        finally:
            await subscriber.unsubscribe(CHANNEL.format(0))

    assert asyncio.run(timeout_of_the_connection()) == (None, True)


def test_the_listener_blocks_for_less_than_its_redis_timeout(redis) -> None:
    with streams.connect(live_settings.REDIS_URL) as client:
        waits = client.connection_pool.connection_kwargs["socket_timeout"]
        assert waits * 1000 / 10 > listener.BLOCK_MS


# --- Ends ----------------------------------------------------------------------------------------


def test_a_stopping_server_closes_with_1012_and_the_next_continues_without_a_gap(tmp_path, minji) -> None:
    (seen,) = write_events(minji)
    with start(tmp_path, "config.web") as first, opened(first, minji) as ws:
        assert frame(ws)["last_id"] == seen
        first.process.send_signal(signal.SIGTERM)
        assert code_of(ws) == 1012
        assert first.process.wait(timeout=60) == 0
        assert "Traceback" not in first.log.read_text()
    meanwhile = write_events(minji, 3)
    with start(tmp_path, "config.web") as second, opened(second, minji, f"?after={seen}") as ws:
        assert receive(ws)["type"] == "snapshot"
        assert [receive(ws)["id"] for _ in range(3)] == meanwhile


def test_a_client_that_reads_nothing_is_disconnected(web, minji) -> None:
    """64 MiB wait for the client; other sockets go on, and it can resume without loss."""
    write_events(minji, 640, "x" * 100_000)
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.connect(("127.0.0.1", web.port))
    jisoo = tools.user("jisoo")
    with (
        opened(web, jisoo) as other,
        # The library reads ahead until its queue is full, and then stops as a hanging client would.
        opened(web, minji, "?after=0", sock=raw, max_queue=1, max_size=None) as ws,
    ):
        assert receive(other)["type"] == "snapshot"
        before = resident_bytes(web)
        # Heartbeats measure the time: by then the server's patience has ended.
        assert {frame(other)["type"] for _ in range(4)} == {"heartbeat"}
        (expected,) = write_events(jisoo)
        assert receive(other)["id"] == expected
        grown = resident_bytes(web) - before
        assert grown < 48 * MIB, f"grew by {grown / MIB:.0f} MiB"
        assert code_of_silent_client(ws, 1.2) == 4408
