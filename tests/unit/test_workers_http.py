"""`http.request` against a real server on loopback."""

import base64
import gzip
import json

import pytest

from dure import InvalidArgs, PermissionRefused, TaskFailure
from dure.failures import RETRYABLE
from dure.results import encode_result
from dure.testing import FakeContext
from jobs import registry
from tests.unit.stub_server import OK, stub


@pytest.fixture
def ctx():
    return FakeContext()


@pytest.fixture
def send(ctx, settings):
    """Calls the Task as the engine does, with the server's endpoint allowed."""

    def send(server, path="/", *, method="GET", context=ctx, **args):
        settings.DURE_HTTP_ALLOW = [f"127.0.0.1:{server.port}"]
        task = registry.find("http.request")
        args = {"method": method, "url": f"http://127.0.0.1:{server.port}{path}", **args}
        task.check_args(args)
        return task.call(context, args)

    return send


def response(status=200, body=b"", content_type="text/plain", headers=""):
    kind = f"Content-Type: {content_type}\r\n" if content_type is not None else ""
    return f"HTTP/1.1 {status} X\r\n{kind}{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body


def test_the_answer_is_the_result(send):
    with stub(OK) as server:
        result = send(server)
    assert result.pop("elapsed_ms") >= 0
    assert result == {
        "status": 200,
        "headers": {"content-type": "text/plain", "content-length": "2"},
        "encoding": "utf-8",
        "body": "ok",
        "truncated": False,
    }


def test_the_idempotency_key_is_sent_and_stays_the_same_over_attempts(send):
    with stub(OK) as server:
        send(server, method="POST", context=FakeContext(attempt=1, execution_id="the-key"))
        send(server, method="POST", context=FakeContext(attempt=2, execution_id="the-key"))
    assert [request.count(b"Idempotency-Key: the-key\r\n") for request in server.requests] == [1, 1]


def test_the_callers_own_idempotency_key_wins(send):
    with stub(OK) as server:
        send(server, headers={"idempotency-key": "mine"})
    assert server.requests[0].lower().count(b"idempotency-key") == 1
    assert b"idempotency-key: mine\r\n" in server.requests[0]


@pytest.mark.parametrize(
    ("body", "sent", "content_type"),
    [
        ("말", "말".encode(), b"text/plain; charset=utf-8"),
        ("", b"", b"text/plain; charset=utf-8"),
        ({"a": ["말", 1, None]}, '{"a": ["말", 1, null]}'.encode(), b"application/json"),
        ([], b"[]", b"application/json"),
    ],
)
def test_a_body_is_sent_as_text_or_as_json(send, body, sent, content_type):
    with stub(OK) as server:
        send(server, method="POST", body=body)
    head, _, received = server.requests[0].partition(b"\r\n\r\n")
    assert received == sent
    assert b"\r\nContent-Type: " + content_type + b"\r\n" in head


def test_the_callers_own_content_type_wins(send):
    with stub(OK) as server:
        send(server, method="PUT", body="<a/>", headers={"content-type": "text/xml"})
    assert server.requests[0].lower().count(b"content-type") == 1


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429, 408])
def test_a_temporary_status_is_retried(send, status):
    with stub(response(status)) as server, pytest.raises(TaskFailure, match=str(status)) as failure:
        send(server)
    assert failure.value.failure_type == "error"


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, InvalidArgs),
        (404, InvalidArgs),
        (409, InvalidArgs),
        (201, InvalidArgs),
        (204, InvalidArgs),
        (302, InvalidArgs),
        (401, PermissionRefused),
        (403, PermissionRefused),
    ],
)
def test_a_status_that_says_the_request_is_wrong_is_final(send, status, error):
    with stub(response(status)) as server, pytest.raises(error, match=f"{status}.*expected 200") as failure:
        send(server)
    assert failure.value.failure_type not in RETRYABLE


def test_any_expected_status_is_a_success(send):
    with stub(response(503)) as server:
        assert send(server, expect=[200, 503])["status"] == 503


def test_a_redirect_is_not_followed_and_reported(send):
    with stub(OK) as inner:
        location = f"Location: http://127.0.0.1:{inner.port}/\r\n"
        with (
            stub(response(302, headers=location)) as server,
            pytest.raises(InvalidArgs, match="not followed"),
        ):
            send(server)
        with stub(response(302, headers=location)) as server:
            result = send(server, expect=[302])
        assert result["headers"]["location"].endswith(f":{inner.port}/")
        assert inner.connections == 0


def test_an_internal_address_is_refused_for_good_and_not_called(ctx):
    with stub(OK) as server:
        with pytest.raises(InvalidArgs, match="only public addresses") as failure:
            registry.find("http.request").call(
                ctx, {"method": "GET", "url": f"http://127.0.0.1:{server.port}/?token=secret"}
            )
        assert server.connections == 0
    assert "secret" not in str(failure.value)


@pytest.mark.parametrize(
    "args", [{"method": "BREW"}, {"url": "file:///etc/passwd"}, {"headers": {"Host": "a"}}]
)
def test_an_invalid_request_is_refused_for_good(ctx, args):
    with pytest.raises(InvalidArgs):
        registry.find("http.request").call(ctx, {"method": "GET", "url": "http://a.example/", **args})


@pytest.mark.parametrize(
    "args",
    [{"expect": [99]}, {"expect": "200"}, {"headers": {"a": 1}}, {"body": 5}, {"verify": False}, {"url": 1}],
)
def test_arguments_of_the_wrong_type_are_refused_at_submission(args):
    with pytest.raises(InvalidArgs):
        registry.find("http.request").check_args({"method": "GET", "url": "http://a.example/", **args})


def test_a_failed_connection_is_retried(send):
    with stub(OK) as server:
        pass
    with pytest.raises(TaskFailure) as failure:
        send(server)
    assert failure.value.failure_type == "error"


def test_the_deadline_of_the_run_limits_the_request(send):
    with stub(OK) as server:
        late = FakeContext(timeout=0.5)
        with pytest.raises(TaskFailure, match="did not answer"):
            send(server, context=late)
        assert server.connections == 0


def test_cookies_are_not_in_the_result(send):
    with stub(response(headers="Set-Cookie: session=secret\r\nETag: x\r\n")) as server:
        result = send(server)
    assert "secret" not in json.dumps(result)
    assert result["headers"]["etag"] == "x"


@pytest.mark.parametrize(
    ("body", "content_type", "text", "encoding"),
    [
        ("말".encode(), "text/plain; charset=utf-8", "말", "utf-8"),
        ("말".encode("cp949"), "text/html; charset=EUC-KR", "말", "utf-8"),
        ("말".encode("utf-16"), 'text/plain; charset="utf-16"', "말", "utf-8"),
        ('{"a": "말"}'.encode(), "application/json", '{"a": "말"}', "utf-8"),
        (b'{"a": 1}', "application/problem+json", '{"a": 1}', "utf-8"),
        (b"a\xffb", "text/plain", "a\ufffdb", "utf-8"),
        (b"a\x00b", "text/plain", "a\ufffdb", "utf-8"),
        (b"plain", None, "plain", "utf-8"),
        (b"plain", "application/octet-stream", "plain", "utf-8"),
        (b"\x89PNG\xff", "image/png", base64.b64encode(b"\x89PNG\xff").decode(), "base64"),
        (b"a\x00b", "application/octet-stream", base64.b64encode(b"a\x00b").decode(), "base64"),
        (b"\\u0041", "text/plain; charset=unicode_escape", "\\u0041", "utf-8"),
        (b"abc", "text/plain; charset=no-such", "abc", "utf-8"),
        (b"abc", "text/plain; charset=\x00", "abc", "utf-8"),
        (b"", "text/plain", "", "utf-8"),
    ],
)
def test_a_text_body_is_text_and_any_other_is_base64(send, body, content_type, text, encoding):
    with stub(response(body=body, content_type=content_type)) as server:
        result = send(server)
    assert (result["body"], result["encoding"]) == (text, encoding)
    encode_result(result)


def test_a_compressed_body_is_not_unpacked(send):
    bomb = gzip.compress(b"0" * 2**24)
    with stub(response(body=bomb, headers="Content-Encoding: gzip\r\n")) as server:
        result = send(server)
    assert base64.b64decode(result["body"]) == bomb


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"x" * 2**20, "text/plain"),
        ("말".encode() * 2**19, "text/plain; charset=utf-8"),
        (b"\x01" * 2**20, "text/plain"),
        (b"\xff" * 2**20, "text/plain"),
        (b"\xff" * 2**20, "image/png"),
    ],
)
def test_any_body_gives_a_result_that_fits(send, settings, body, content_type):
    with stub(response(body=body, content_type=content_type)) as server:
        result = send(server)
    size = len(encode_result(result).encode())
    assert settings.DURE_MAX_RESULT_BYTES * 0.95 < size <= settings.DURE_MAX_RESULT_BYTES
    assert result["truncated"]
