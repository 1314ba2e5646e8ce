"""The OpenAPI document is valid, complete, in line with the code, and readable offline."""

import difflib
import re
from typing import Any

import jsonschema
import pytest
import yaml
from django.conf import settings as django_settings
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.test import Client

from config.openapi import TAGS
from jobs.api.framework.openapi_errors import METHODS
from jobs.errors import PROBLEM_CODES
from tests.integration.rest_support import PROBLEM
from tests.openapi import WRITTEN

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fresh_counts")]

# Files, for which an example is useless.
BINARY = {"video/mp4", "image/png", "video/webm", "image/gif", "application/octet-stream"}


@pytest.fixture(scope="module")
def document() -> Any:
    return Client().get("/api/schema").json()


def operations(document: Any):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method in METHODS:
                yield path, method, operation


def resolved(document: Any, node: Any) -> Any:
    while "$ref" in node:
        result = document
        for name in node["$ref"].removeprefix("#/").split("/"):
            result = result[name]
        node = result
    return node


def bodies(document: Any):
    """Every body of a successful answer or a request: its location and its media type object."""
    for path, method, operation in operations(document):
        received = {"request": operation["requestBody"]} if "requestBody" in operation else {}
        received |= {status: answer for status, answer in operation["responses"].items() if status < "300"}
        for part, body in received.items():
            for media_type, described in body.get("content", {}).items():
                if media_type not in BINARY:
                    yield f"{method} {path} {part}", described


def test_the_schema_is_valid_openapi_3_1_without_a_warning_and_committed(document, tmp_path):
    assert document["openapi"].startswith("3.1")
    made = tmp_path / "openapi.yaml"
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(made))
    before, after = (path.read_text().splitlines() for path in (WRITTEN, made))
    changed = list(difflib.unified_diff(before, after, "docs/openapi.yaml", "the code", lineterm="", n=1))
    assert not changed, "\n".join(["Look at the change, then write it down: make schema", *changed[:60]])


def test_every_operation_has_a_summary(document):
    for path, method, operation in operations(document):
        where = (path, method)
        assert operation["operationId"], where
        assert 3 < len(operation["summary"]) <= 90, (where, operation["summary"])
        assert not operation["summary"].endswith("."), where
        assert operation["tags"][0] in TAGS, where
        for parameter in operation.get("parameters", ()):
            assert parameter.get("description"), (where, parameter["name"])
        for status, answer in operation["responses"].items():
            assert resolved(document, answer)["description"], (where, status)
    assert [tag["name"] for tag in document["tags"]] == list(TAGS)
    assert set(TAGS) == {operation["tags"][0] for _, _, operation in operations(document)}


def test_every_body_has_an_example_and_each_is_valid_for_its_schema(document):
    checked = 0
    for where, described in bodies(document):
        assert described.get("examples"), where
        # As Schemathesis reads it: see tests/fuzz/hooks.py.
        schema = {**described["schema"], "components": document["components"]}
        validator = jsonschema.Draft202012Validator(
            schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
        )
        for name, example in described["examples"].items():
            problems = [
                f"{error.json_path}: {error.message}" for error in validator.iter_errors(example["value"])
            ]
            assert not problems, (where, name, problems)
            checked += 1
    assert checked > 100


def test_every_operation_has_its_error_responses(document):
    for path, method, operation in operations(document):
        refusals = {int(code) for code in operation["responses"] if code >= "400"}
        assert {400, 406, 429, 500, 503} <= refusals, (path, method)
        if "/{" in path:
            assert 404 in refusals, (path, method)
        if method in ("post", "put", "patch"):
            assert {408, 413, 415} <= refusals, (path, method)
        for status in refusals:
            answer = resolved(document, operation["responses"][str(status)])
            assert set(answer["content"]) == {PROBLEM}, (path, method, status)
            displayed = answer["content"][PROBLEM]["examples"]
            assert displayed, (path, method, status)
            for code, example in displayed.items():
                assert code in PROBLEM_CODES
                assert (example["value"]["code"], example["value"]["status"]) == (code, status)
                assert f"`{code}`" in answer["description"]
    assert document["components"]["schemas"]["Problem"]["required"]


def test_every_problem_code_belongs_to_an_operation(document):
    named = {
        code
        for _, _, operation in operations(document)
        for status, answer in operation["responses"].items()
        if status >= "400"
        for code in resolved(document, answer)["content"][PROBLEM]["examples"]
    }
    # The other codes belong to no operation, or stand for errors without a code of their own.
    assert set(PROBLEM_CODES) - named == {"method_not_allowed", "conflict", "refused"}


def test_every_operation_with_credentials_declares_and_requires_them(document):
    assert {"token", "session", "cron"} <= set(document["components"]["securitySchemes"])
    open_to_all = set()
    for path, method, operation in operations(document):
        if {} in operation["security"]:
            open_to_all.add(path)
            assert "401" not in operation["responses"]
            continue
        assert {"token": []} in operation["security"]
        assert {"401", "403"} <= set(operation["responses"]), path
        answer = Client().generic(method, filled(path, operation))
        assert (answer.status_code, answer["Content-Type"]) == (401, PROBLEM), (method, path)
        assert answer["WWW-Authenticate"].startswith("Token")
    # The token in the address of a shared file is a credential itself.
    assert open_to_all == {"/api/problems/{code}", "/api/jobs/{job_id}/shared/{token}"}


def filled(path: str, operation: Any) -> str:
    """The path with valid ids of objects that do not exist."""
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            schema = parameter["schema"]
            value = "1" if schema["type"] == "integer" else "word"
            value = "0199c0de-0000-7000-8000-000000000001" if schema.get("format") == "uuid" else value
            path = path.replace(f"{{{parameter['name']}}}", value)
    return path


def test_an_idempotent_post_describes_its_header(document):
    ticket = document["paths"]["/api/ws-ticket"]["post"]
    assert [(each["name"], each["in"]) for each in ticket["parameters"]] == [("Idempotency-Key", "header")]
    assert "422" in ticket["responses"]
    assert "Idempotency-Replayed" in ticket["responses"]["201"]["headers"]


def test_201_and_202_describe_the_location_header(document):
    for path, method, operation in operations(document):
        for status in {"201", "202"} & set(operation["responses"]):
            assert "Location" in operation["responses"][status]["headers"], (path, method)
    assert "Retry-After" in document["components"]["responses"]["TooManyRequests"]["headers"]


def test_strict_bodies_forbid_additional_properties(document):
    for where, described in bodies(document):
        schema = resolved(document, described["schema"])
        if where.endswith(" request") and "oneOf" not in schema:
            assert schema["additionalProperties"] is False, where


def test_a_new_calendar_consists_of_dates_and_times(document):
    schemas = document["components"]["schemas"]
    dates = schemas["CalendarRequest"]["properties"]["dates"]["items"]
    times = schemas["WindowRequest"]["properties"].values()
    assert [dates["format"], *(time["format"] for time in times)] == ["date", "date-time", "date-time"]


def test_webhooks_describe_their_signature(document):
    (message,) = document["webhooks"].values()
    names = {parameter["name"] for parameter in message["post"]["parameters"]}
    assert names == {"webhook-id", "webhook-timestamp", "webhook-signature"}
    described = message["post"]["requestBody"]["content"]["application/json"]
    schema = {**described["schema"], "components": document["components"]}
    jsonschema.Draft202012Validator(schema).validate(described["example"])


def test_the_schema_is_available_as_yaml(document):
    response = Client().get("/api/schema", headers={"Accept": "application/vnd.oai.openapi"})
    assert response.status_code == 200
    assert yaml.load(response.content, yaml.CSafeLoader) == document


def test_the_docs_page_loads_only_local_files():
    page = Client().get("/api/docs")
    html = page.content.decode()
    assert page.status_code == 200
    policy = page["Content-Security-Policy"]
    assert "script-src" not in policy  # so default-src 'self' holds for scripts: none inline
    assert "default-src 'self'" in policy
    assert not re.search(r"<script(?![^>]*\bsrc=)", html)
    addresses = re.findall(r'(?:src|href)="([^"]+)"', html)
    assert len(addresses) == 8
    for address in addresses:
        assert address.startswith("/")
        assert not address.startswith("//")
        if address.startswith(django_settings.STATIC_URL):
            assert finders.find(address.removeprefix(django_settings.STATIC_URL)), address
    script = Client().get(next(address for address in addresses if "script=" in address))
    assert script.status_code == 200
    assert script["Content-Type"].startswith("application/javascript")
    assert b'url: "/api/schema"' in script.content or b"schema" in script.content
