"""The API's description is valid, complete, and readable without the internet."""

import re
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.test import Client
from drf_spectacular.validation import validate_schema

from tests.integration.rest_support import forget_counts

pytestmark = [pytest.mark.django_db]


@pytest.fixture(autouse=True)
def fresh_counts():
    forget_counts()


def schema() -> Any:
    return Client().get("/api/schema").json()


def operations(document: Any):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method in ("get", "post", "put", "patch", "delete"):
                yield path, method, operation


def test_it_is_valid_openapi_3_1():
    document = schema()
    assert document["openapi"].startswith("3.1")
    validate_schema(document)


def test_it_is_made_without_a_warning(tmp_path):
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yaml"))


def test_every_operation_says_how_it_refuses():
    document = schema()
    found = list(operations(document))
    assert found
    for path, method, operation in found:
        refusals = {int(code) for code in operation["responses"] if code >= "400"}
        assert {400, 429, 503} <= refusals, (path, method)
        if "/{" in path:
            assert 404 in refusals, (path, method)
        for code in refusals:
            content = operation["responses"][str(code)]["content"]
            assert set(content) == {"application/problem+json"}, (path, method, code)
    assert document["components"]["schemas"]["Problem"]["required"]


def test_every_operation_that_needs_credentials_says_so():
    document = schema()
    assert {"token", "session"} <= set(document["components"]["securitySchemes"])
    ticket = document["paths"]["/api/ws-ticket"]["post"]
    assert {"token": []} in ticket["security"]
    assert {"401", "403"} <= set(ticket["responses"])
    explained = document["paths"]["/api/problems/{code}"]["get"]
    assert {} in explained["security"]
    assert "401" not in explained["responses"]


def test_a_repeatable_post_shows_its_header():
    ticket = schema()["paths"]["/api/ws-ticket"]["post"]
    assert [(each["name"], each["in"]) for each in ticket["parameters"]] == [("Idempotency-Key", "header")]
    assert "422" in ticket["responses"]


def test_it_can_be_had_as_yaml():
    response = Client().get("/api/schema", headers={"Accept": "application/vnd.oai.openapi"})
    assert response.status_code == 200
    assert response.content.startswith(b"openapi: 3.1")


def test_the_docs_load_everything_from_here_under_a_strict_policy():
    page = Client().get("/api/docs")
    html = page.content.decode()
    assert page.status_code == 200
    policy = page["Content-Security-Policy"]
    assert "script-src" not in policy  # so default-src 'self' holds for scripts: none inline
    assert "default-src 'self'" in policy
    assert not re.search(r"<script(?![^>]*\bsrc=)", html)
    addresses = re.findall(r'(?:src|href)="([^"]+)"', html)
    assert len(addresses) == 5
    for address in addresses:
        assert address.startswith("/")
        assert not address.startswith("//")
        if address.startswith(django_settings.STATIC_URL):
            assert finders.find(address.removeprefix(django_settings.STATIC_URL)), address
    script = Client().get(next(address for address in addresses if "script" in address))
    assert script.status_code == 200
    assert script["Content-Type"].startswith("application/javascript")
    assert b'url: "/api/schema"' in script.content or b"schema" in script.content
