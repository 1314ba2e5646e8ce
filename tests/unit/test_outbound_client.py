"""The HTTP client against a server on loopback that behaves well or badly, over real sockets."""

import itertools
import resource
import shlex
import socket
import ssl
import subprocess
import threading
from contextlib import ExitStack

import pytest

from jobs.http_client import Allowance, NoResponse, RequestRefused, connection, request
from tests.unit.stub_server import OK, stub

NOTHING = Allowance()
QUICK = 0.5


def allowing(*servers, host="127.0.0.1"):
    return Allowance.parse([f"{host}:{server.port}" for server in servers])


def get(server, path="/", **options):
    options.setdefault("allow", allowing(server))
    return request("GET", f"http://127.0.0.1:{server.port}{path}", **options)


def test_a_response_is_returned():
    with stub() as server:
        answer = get(server, "/a?b=c", headers={"X-Mine": "yes"})
    assert (answer.status, answer.reason, answer.body, answer.truncated) == (200, "OK", b"ok", False)
    assert answer.headers["content-type"] == "text/plain"
    head = server.requests[0].decode()
    assert head.startswith(f"GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nUser-Agent: Dure/")
    assert "\r\nX-Mine: yes\r\n" in head
    assert "\r\nConnection: close\r\n" in head


def test_a_body_is_sent_with_its_length():
    with stub() as server:
        request("POST", f"http://127.0.0.1:{server.port}/", body=b"x" * 200_000, allow=allowing(server))
    assert b"Content-Length: 200000\r\n" in server.requests[0]
    assert server.requests[0].endswith(b"\r\n\r\n" + b"x" * 200_000)


def test_a_chunked_body_is_joined():
    response = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: r\r\n\r\n"
    )
    with stub(response) as server:
        assert get(server).body == b"abcde"


NUMBERS = [
    *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "0.0.0.0", "127.0.0.2", "0x7f.1"),
    "①②⑦.⓪.⓪.①",
    *("[::]", "[::1]", "[fe80::1]", "[fc00::1]"),
    *("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"),
    *("169.254.169.254", "100.64.0.1", "10.0.0.1", "192.168.1.1", "172.16.0.1"),
    *("224.0.0.1", "255.255.255.255"),
]
NAMES = ["localhost", "LOCALHOST", "localhost.", "127.0.0.1.", "localhost.localdomain", "ip6-localhost"]


@pytest.mark.parametrize("host", NUMBERS)
def test_every_spelling_of_an_inner_address_is_refused_and_nothing_connects(host):
    with stub(host="::") as server:
        with pytest.raises(RequestRefused) as refusal:
            request("GET", f"http://{host}:{server.port}/", allow=NOTHING)
        assert server.connections == 0
    assert "public" in str(refusal.value)


@pytest.mark.parametrize("host", NAMES)
def test_a_name_of_this_machine_is_not_connected_to(host):
    with stub(host="::") as server:
        with pytest.raises((RequestRefused, NoResponse)):
            request("GET", f"http://{host}:{server.port}/", allow=NOTHING, seconds=2)
        assert server.connections == 0


def test_a_refusal_does_not_tell_whether_the_port_is_open():
    with stub() as server:
        open_port = server.port
        with pytest.raises(RequestRefused) as of_open:
            request("GET", f"http://127.0.0.1:{open_port}/", allow=NOTHING)
    with pytest.raises(RequestRefused) as of_closed:
        request("GET", f"http://127.0.0.1:{open_port}/", allow=NOTHING)
    assert str(of_open.value) == str(of_closed.value)


@pytest.mark.parametrize("port", [5432, 6379, 22, 25])
def test_ports_of_other_services_are_refused_on_public_addresses_too(port):
    with pytest.raises(RequestRefused):
        request("GET", f"http://a.example:{port}/", allow=NOTHING, resolver=lambda *_: ["8.8.8.8"])


@pytest.mark.parametrize("answer", [["8.8.8.8", "127.0.0.1"], ["2606:4700::1111", "fd00::1"], []])
def test_a_name_with_one_inner_address_is_refused(answer):
    with stub() as server:
        with pytest.raises(RequestRefused):
            request("GET", f"http://a.example:{server.port}/", allow=NOTHING, resolver=lambda *_: answer)
        assert server.connections == 0


def test_a_name_is_resolved_once_and_its_checked_address_is_used():
    answers = itertools.chain([["127.0.0.2"]], itertools.repeat(["127.0.0.1"]))
    resolved = []

    def resolver(host, port):
        resolved.append(host)
        return next(answers)

    with stub(host="127.0.0.2") as checked, stub(port=checked.port) as later:
        allow = Allowance.parse(["127.0.0.2/32"])
        answer = request("GET", f"http://a.example:{checked.port}/", allow=allow, resolver=resolver)
    assert answer.status == 200
    assert resolved == ["a.example"]
    assert (checked.connections, later.connections) == (1, 0)
    assert f"\r\nHost: a.example:{checked.port}\r\n".encode() in checked.requests[0]


def test_an_address_that_does_not_answer_is_followed_by_the_next():
    with stub() as server:
        addresses = ["127.0.0.3", "127.0.0.1"]
        allow = allowing(server, host="a.example")
        answer = request(
            "GET", f"http://a.example:{server.port}/", allow=allow, resolver=lambda *_: addresses
        )
    assert answer.status == 200


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_returned_and_not_followed(status):
    with stub() as inner:
        location = f"http://127.0.0.1:{inner.port}/secret"
        response = f"HTTP/1.1 {status} Go\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
        with stub(response) as server:
            answer = get(server)
        assert (answer.status, answer.headers["location"]) == (status, location)
        assert inner.connections == 0


def test_proxies_of_the_environment_are_not_used(monkeypatch):
    with stub() as proxy, stub() as server:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert get(server).status == 200
        assert (server.connections, proxy.connections) == (1, 0)


def _endless(prefix, piece):
    def behave(connection, _):
        connection.sendall(prefix)
        while True:
            connection.sendall(piece)

    return behave


@pytest.mark.parametrize(
    ("prefix", "piece"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65_536),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n", b"x" * 65_536),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"x" * 65_536 + b"\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 10_000),
    ],
)
def test_an_endless_body_is_cut(prefix, piece):
    with stub(_endless(prefix, piece)) as server:
        answer = get(server, seconds=30)
    assert answer.truncated
    assert answer.body == b"x" * 2**20


@pytest.mark.parametrize("length", [2**20 - 1, 2**20, 2**20 + 1])
def test_a_body_is_cut_at_one_mebibyte_exactly(length):
    with stub(f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n".encode() + b"x" * length) as server:
        answer = get(server)
    assert len(answer.body) == min(length, 2**20)
    assert answer.truncated == (length > 2**20)


@pytest.mark.parametrize(
    "behave",
    [
        _endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", b"x" * 65_536),
        _endless(b"HTTP/1.1 200 OK\r\n", b"X-Header: " + b"y" * 10_000 + b"\r\n"),
        _endless(b"HTTP/1.1 200 OK\r\nX: ", b"y" * 65_536),
        _endless(b"", b"not HTTP at all " * 4_096),
        _endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        _endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"Trailer: x\r\n" * 5_000),
    ],
    ids=["negative chunk", "headers", "header line", "no HTTP", "100 for ever", "trailers"],
)
def test_an_endless_response_does_not_fill_the_memory(behave):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with stub(behave) as server, pytest.raises(NoResponse):
        get(server, seconds=1)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


def _dripping(prefix):
    def behave(connection, _):
        connection.sendall(prefix)
        gone = threading.Event()
        while not gone.wait(0.05):
            connection.sendall(b"x")

    return behave


@pytest.mark.parametrize(
    "prefix",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nX: ",
        b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
    ],
    ids=["status line", "header", "body", "body until the end"],
)
def test_a_slow_response_is_given_up_at_the_deadline(prefix):
    # The server never ends by itself.
    with stub(_dripping(prefix)) as server, pytest.raises(NoResponse, match=r"within 0\.5 s"):
        get(server, seconds=QUICK)


def test_a_server_that_does_not_read_is_given_up_at_the_deadline():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        allow = Allowance.parse([f"127.0.0.1:{port}"])
        with pytest.raises(NoResponse, match="within"):
            request("POST", f"http://127.0.0.1:{port}/", body=b"x" * 2**26, seconds=QUICK, allow=allow)


def test_a_hanging_name_service_is_given_up_at_the_deadline():
    release = threading.Event()

    def resolver(host, port):
        release.wait()
        return ["127.0.0.1"]

    with pytest.raises(NoResponse, match="within"):
        request("GET", "http://a.example/", seconds=QUICK, allow=NOTHING, resolver=resolver)
    release.set()


def test_a_request_without_time_left_is_not_sent():
    with stub() as server:
        with pytest.raises(NoResponse):
            get(server, seconds=-1)
        assert server.connections == 0


@pytest.mark.parametrize(
    "response",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab",
        b"HTTP/1.1 abc OK\r\n\r\n",
    ],
)
def test_an_incomplete_response_is_no_response(response):
    with stub(response) as server, pytest.raises(NoResponse):
        get(server)


def test_a_closed_port_is_no_response():
    with stub() as server:
        pass
    with pytest.raises(NoResponse, match="refused"):
        get(server)


def test_an_unknown_name_is_no_response():
    def resolver(host, port):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with pytest.raises(NoResponse, match="not known"):
        request("GET", "http://a.example/", allow=NOTHING, resolver=resolver)


def test_an_error_message_shows_no_query():
    with stub() as server:
        pass
    with pytest.raises(NoResponse) as problem:
        get(server, "/p?token=secret")
    assert "secret" not in str(problem.value)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    options = "-newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=stub.example"
    subprocess.run(
        ["openssl", "req", "-x509", *shlex.split(options), "-addext", "subjectAltName=DNS:stub.example"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture
def tls_stub(certificate, monkeypatch):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    with ExitStack() as stack:
        yield stack.enter_context(stub(OK, tls=context))


@pytest.fixture
def trust_certificate(certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    connection._tls.cache_clear()
    yield
    connection._tls.cache_clear()


def _tls_get(server, host):
    allow = allowing(server, host=host)
    url = f"https://{host}:{server.port}/"
    return request("GET", url, allow=allow, resolver=lambda *_: ["127.0.0.1"], seconds=60)


@pytest.mark.usefixtures("trust_certificate")
@pytest.mark.parametrize("host", ["stub.example", "stub.example."])
def test_a_certificate_is_checked_against_the_name_of_the_url_not_the_address(tls_stub, host):
    assert _tls_get(tls_stub, host).body == b"ok"


@pytest.mark.usefixtures("trust_certificate")
def test_a_certificate_of_another_name_is_no_response(tls_stub):
    with pytest.raises(NoResponse, match="certificate"):
        _tls_get(tls_stub, "other.example")
    assert tls_stub.requests == []


def test_an_untrusted_certificate_is_no_response(tls_stub):
    with pytest.raises(NoResponse, match="certificate"):
        _tls_get(tls_stub, "stub.example")
    assert tls_stub.requests == []


def test_a_hanging_handshake_is_given_up_at_the_deadline():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        allow = Allowance.parse([f"127.0.0.1:{port}"])
        with pytest.raises(NoResponse, match="within"):
            request("GET", f"https://127.0.0.1:{port}/", seconds=QUICK, allow=allow)
