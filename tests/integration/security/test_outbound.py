"""Nothing that a user names is connected to unless it is public: by webhooks, callbacks and http.request.

`tests/unit/test_outbound_*` try the client itself with every spelling; these tests try what uses it.
"""

import ast
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from dure import InvalidArgs
from dure.testing import FakeContext
from jobs import registry
from jobs.models import Notification, Webhook
from jobs.notifications import creation, delivery
from tests.factories import an_office
from tests.integration.manual_engine import a_failure
from tests.integration.rest_support import client_of, make_user
from tests.integration.security.operations import operations, property_names
from tests.unit.stub_server import Stub, stub
from tests.unit.test_outbound_client import NUMBERS
from tests.workers import ROOT

# Modules that open connections, and the files that may import them: to our own servers and addresses.
NETWORK = {"http.client", "urllib.request", "requests", "httpx", "urllib3", "aiohttp", "ftplib", "telnetlib"}
# `requests` prepares what the transport of the single sign-on sends by the checked client.
OWN_SERVERS = {"config/diagnostics/addresses.py", "config/dev/readiness.py", "config/oidc/transport.py"}
INNER = [
    ["127.0.0.1"],
    ["::1"],
    ["::ffff:127.0.0.1"],
    ["169.254.169.254"],
    ["10.0.0.1", "127.0.0.1"],
    ["8.8.8.8", "127.0.0.1"],
    ["64:ff9b::7f00:1"],
]


@pytest.fixture
def server() -> Iterator[Stub]:
    with stub(host="::") as server:
        yield server


@pytest.fixture
def resolve(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets the addresses of inner.example."""
    original = socket.getaddrinfo

    def set_addresses(addresses: list[str]) -> None:
        def getaddrinfo(host: Any, port: Any, *args: Any, **options: Any) -> Any:
            if host != "inner.example":
                return original(host, port, *args, **options)
            return [
                (socket.AF_INET6 if ":" in each else socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port))
                for each in addresses
            ]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)

    return set_addresses


def test_only_the_checked_client_sends_requests():
    """So the tests of the client hold for all that sends."""
    importing = set()
    for package in ("jobs", "scheduler", "exports", "workers", "config"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom):
                    names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
                if NETWORK.intersection(names):
                    importing.add(str(path.relative_to(ROOT)))
    assert {path for path in importing if not path.startswith("jobs/http_client/")} == OWN_SERVERS


@pytest.mark.django_db
def test_every_url_of_a_body_refuses_inner_addresses_and_tricks(ours):
    """At once, where the address is in the URL; a name is checked before each request."""
    owner, wrong, tried = client_of(ours.owner), [], 0
    tricks = [
        *("http://127.0.0.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]:8080/", "http://169.254.169.254/"),
        *(
            "http://public.example@127.0.0.1/",
            "http://127.0.0.1#@public.example/",
            "http://public.example:22/x\\@y",
        ),
        *("file:///etc/passwd", "gopher://127.0.0.1:6379/_x", "http://a.example\r\nX: y/", "//127.0.0.1/"),
    ]
    for operation in operations():
        names = property_names(operation.schema()) if operation.media_type else set()
        for name in (name for name in names if name == "url" or name.endswith("_url")):
            for url in tricks:
                tried += 1
                path = ours.fill(operation.path, operation.parameters)
                answer = operation.send(owner, path, {**operation.examples()[0], name: url})
                if answer.status_code != 400 or name not in answer.json()["errors"]:
                    wrong.append(f"{operation} {url!r}: {answer.status_code} {answer.content[:200]!r}")
    assert tried >= 2 * len(tricks)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("addresses", INNER, ids=" ".join)
def test_http_request_does_not_reach_a_name_with_an_inner_address(server, resolve, addresses):
    resolve(addresses)
    task = registry.find("http.request")
    with pytest.raises(InvalidArgs, match="public"):
        task.call(FakeContext(), {"method": "GET", "url": f"http://inner.example:{server.port}/"})
    assert server.connections == 0


@pytest.mark.parametrize("host", NUMBERS)
def test_http_request_does_not_reach_an_inner_address_in_any_spelling(server, host):
    task = registry.find("http.request")
    with pytest.raises(InvalidArgs, match="public"):
        task.call(FakeContext(), {"method": "GET", "url": f"http://{host}:{server.port}/"})
    assert server.connections == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("addresses", INNER, ids=" ".join)
def test_a_webhook_does_not_reach_a_name_with_an_inner_address(server, resolve, addresses):
    office = an_office(make_user("owner"), max_concurrent_jobs=50)
    url = f"http://inner.example:{server.port}/"
    Webhook.objects.create(office=office, url=url, secret="whsec_c2VjcmV0", event_types=["job_failed"])
    type(office).objects.update(has_webhooks=True)
    a_failure(office)
    creation.create_from_events(office.pk)
    resolve(addresses)
    assert delivery.send_due() == 0
    notification = Notification.objects.get()
    assert notification.attempts == 1
    assert "public" in notification.answer
    assert server.connections == 0
