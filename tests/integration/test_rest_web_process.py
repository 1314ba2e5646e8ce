"""The real web process: bodies, proxies' headers, outages, and stopping."""

import json
import signal
import socket
import time
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from jobs.models.access import ApiToken
from tests.integration.rest_support import PROBLEM, forget_counts, make_user
from tests.integration.web_process import running
from tests.workers import database_url, eventually

pytestmark = pytest.mark.django_db(transaction=True)

SMALL = str(64 * 1024)
# By which PostgreSQL knows the connections of the web process: threads of earlier tests keep theirs.
NAME = "the web process"


@pytest.fixture
def token():
    forget_counts()
    return ApiToken.issue(make_user(), "test", timezone.now())[1]


@pytest.fixture(scope="module")
def web(tmp_path_factory, django_db_setup):
    selected = {"DURE_MAX_BODY_BYTES": SMALL, "DURE_RATE_REFUSED": "5/min", "DURE_CONN_MAX_AGE": "60"}
    database = {"DATABASE_URL": database_url(), "PGAPPNAME": NAME}
    with running(tmp_path_factory.mktemp("web"), **database, **selected) as web:
        yield web


def problem(response, status: int, code: str) -> Any:
    body = response.read()
    assert response.status == status, body
    assert response.headers["Content-Type"] == PROBLEM
    document = json.loads(body)
    assert document["code"] == code
    return document


def json_headers(token: str, **more: str) -> dict[str, str]:
    return {"Authorization": f"Token {token}", "Content-Type": "application/json", **more}


def pieces(total: int, size: int = 100_000):
    for start in range(0, total, size):
        yield b"x" * min(size, total - start)


def test_a_body_beyond_the_limit_is_413_announced_or_in_chunks(web, token):
    # More than the buffers between us hold: both sides have to read to get to the answer.
    big = b"{" + b" " * 20_000_000 + b"}"
    document = problem(web.request("POST", "/api/ws-ticket", big, json_headers(token)), 413, "too_large")
    assert document["limit"] == int(SMALL)
    chunked = web.request("POST", "/api/ws-ticket", pieces(20_000_000), json_headers(token))
    problem(chunked, 413, "too_large")
    elsewhere = web.request("POST", "/nothing", big)
    assert elsewhere.status == 413
    assert elsewhere.headers["Content-Type"] == "text/plain"


def test_a_content_length_beyond_the_limit_is_answered_before_the_body(web, token):
    with socket.create_connection(("127.0.0.1", web.port), timeout=60) as raw:
        raw.sendall(
            b"POST /api/ws-ticket HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n"
            b"Expect: 100-continue\r\n\r\n"
        )
        assert raw.recv(1000).startswith(b"HTTP/1.1 413")


def test_a_chunked_body_is_read(web, token):
    key = {"Idempotency-Key": "chunked"}
    bad = web.request("POST", "/api/ws-ticket", iter([b"[", b"1]"]), json_headers(token, **key))
    problem(bad, 400, "malformed_json")
    good = web.request("POST", "/api/ws-ticket", iter([b"{", b"}"]), json_headers(token, **key))
    assert good.status == 201


def test_a_forged_forwarding_header_does_not_change_the_counted_address(web, fresh_counts):
    statuses = [
        web.request("POST", "/api/ws-ticket", b"", {"X-Forwarded-For": f"10.9.8.{number}"}).status
        for number in range(8)
    ]
    assert statuses == [401] * 5 + [429] * 3


def test_an_answer_does_not_wait_for_an_acknowledgement(web):
    raw = socket.create_connection(("127.0.0.1", web.port), timeout=60)
    request = b"GET /api/problems/invalid HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    times = []
    with raw:
        for _ in range(20):
            start = time.perf_counter()
            raw.sendall(request)
            answer = b""
            while b"}" not in answer:
                answer += raw.recv(4096)
            times.append(time.perf_counter() - start)
    # With Nagle's algorithm each of them takes 40 ms and more.
    assert min(times) < 0.035


def test_many_requests_share_a_few_connections_to_the_database(web, token):
    seen: set[int] = set()
    for _ in range(30):
        assert web.request("POST", "/api/ws-ticket", b"", json_headers(token)).status == 201
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pid FROM pg_stat_activity"
                " WHERE datname = current_database() AND application_name = %s",
                [NAME],
            )
            seen |= {pid for (pid,) in cursor.fetchall()}
    assert 1 <= len(seen) <= 3


def test_a_static_file_arrives_whole(web):
    response = web.request("GET", "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js")
    body = response.read()
    assert response.status == 200
    assert len(body) == int(response.headers["Content-Length"]) > 1_000_000
    assert b"synchronous iterator" not in web.log.read_bytes()


def test_a_stop_waits_for_requests_and_exits_with_0(tmp_path, token):
    with running(tmp_path, DATABASE_URL=database_url()) as web:
        web.process.send_signal(signal.SIGTERM)
        assert web.process.wait(timeout=60) == 0
        assert "Traceback" not in web.log.read_text()


def test_a_missing_database_is_503_and_the_process_stays_alive(tmp_path):
    with running(tmp_path, DATABASE_URL="postgresql://nobody:hunter2@127.0.0.1:1/none") as web:
        assert web.request("GET", "/healthz").status == 200
        response = web.request("GET", "/readyz")
        answer = json.loads(response.read())
        assert response.status == 503
        assert answer["missing"] == ["database", "migrations"]
        for headers in ({"Authorization": "Token dure_" + "x" * 43}, {"Cookie": "sessionid=" + "x" * 32}):
            response = web.request("POST", "/api/ws-ticket", b"", headers)
            assert response.headers["Retry-After"] == "5"
            assert problem(response, 503, "database_unavailable")["request_id"]
        page = web.request("GET", "/admin/", headers={"Cookie": "sessionid=" + "x" * 32})
        assert page.status == 503
        assert b"hunter2" not in web.log.read_bytes()


def test_the_api_works_without_redis_and_logs_once_that_nothing_is_counted(tmp_path, token):
    with running(tmp_path, DATABASE_URL=database_url(), REDIS_URL="redis://127.0.0.1:1/0") as web:
        for _ in range(10):
            assert web.request("POST", "/api/ws-ticket", b"", json_headers(token)).status == 201
        assert web.log.read_text().count("nothing is throttled") == 1
        assert json.loads(web.request("GET", "/readyz").read())["missing"][0] == "broker"


def test_a_client_cannot_forge_a_log_line(web):
    web.request("GET", "/admin/%0A2026-11-18%2012:00:00%20INFO%20forged", headers={"Host": "a b"})
    web.request("GET", "/api/x", headers={"Host": "evil.example"})
    log = eventually(lambda: (text := web.log.read_text()) and "evil.example" in text and text)
    assert not [line for line in log.splitlines() if line.startswith("2026-11-18 12:00:00 INFO forged")]
