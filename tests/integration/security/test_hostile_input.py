"""Hostile bodies, parameters and ids: a clear 4xx for every operation, never a 5xx, and nothing written."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.conf import settings

from tests.integration.rest_support import PROBLEM, client_of, make_user
from tests.integration.security.operations import JSON, Operation, operations
from tests.integration.security.tenants import changes, snapshot, undone

pytestmark = pytest.mark.django_db

DEEP = 2_000
BODIES: dict[str, bytes] = {
    "deep array": b'{"args": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep object": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "33 levels": b'{"args":' * 33 + b"1" + b"}" * 33,
    "a long number": b'{"priority": ' + b"9" * 5_000 + b"}",
    "a large exponent": b'{"priority": 1e999}',
    "not a number": b'{"priority": NaN}',
    "a key twice": b'{"name": "a", "name": "b"}',
    "half a pair": b'{"name": "\\ud800"}',
    "NUL": b'{"name": "\\u0000"}',
    "not UTF-8": b'{"name": "\xc0\xaf"}',
    "UTF-16": '{"name": "a"}'.encode("utf-16"),
    "an array": b"[]",
    "not JSON": b"name=a",
}
TEXTS = [
    *("\x00", "\ud800", "../../etc/passwd", "%2e%2e%2f", "-1", "１", "9" * 400),
    *("' OR 1=1 --", "x" * 10_000, "null"),
]


def quoted(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def with_bodies() -> Iterator[Operation]:
    yield from (operation for operation in operations() if operation.media_type == JSON)


@pytest.fixture
def root(db: None) -> Any:
    return client_of(make_user("root", is_superuser=True, is_staff=True))


def test_no_operation_reads_json_that_is_not_strict(root, ours):
    before, wrong, tried = snapshot(), [], 0
    for operation in with_bodies():
        path = ours.fill(operation.path, operation.parameters)
        for name, body in BODIES.items():
            answer = root.generic(operation.method.upper(), path, body, JSON)
            tried += 1
            if (answer.status_code, answer.get("Content-Type")) != (400, PROBLEM):
                wrong.append(f"{operation} with {name}: {answer.status_code} {answer.content[:200]!r}")
    assert tried > 200
    assert not wrong, "\n".join(wrong)
    assert changes(before) == []


def test_no_operation_reads_a_body_above_the_limit(root, ours):
    body = b'{"name": "' + b"x" * settings.DATA_UPLOAD_MAX_MEMORY_SIZE + b'"}'
    assert len(body) > 10_000_000
    before, wrong = snapshot(), []
    for operation in with_bodies():
        answer = root.generic(
            operation.method.upper(), ours.fill(operation.path, operation.parameters), body, JSON
        )
        if answer.status_code != 413:
            wrong.append(f"{operation}: {answer.status_code} {answer.content[:200]!r}")
    assert not wrong, "\n".join(wrong)
    assert changes(before) == []


def test_every_text_of_a_body_may_be_refused_but_not_fail(root, ours):
    wrong = []
    for operation in with_bodies():
        path = ours.fill(operation.path, operation.parameters)
        for example in operation.examples():
            for name in (name for name, value in example.items() if isinstance(value, str)):
                for text in TEXTS:
                    body = json.dumps(
                        {**example, "wait": 0, name: text} if "wait" in example else {**example, name: text}
                    )
                    with undone():
                        answer = root.generic(operation.method.upper(), path, body, JSON)
                        if answer.status_code >= 500:
                            wrong.append(f"{operation} with {name}={text[:40]!r}: {answer.content[:200]!r}")
    assert not wrong, "\n".join(wrong)


def test_no_id_in_a_path_fails_or_leaves_the_path(root, ours):
    before, wrong = snapshot(), []
    for operation in operations():
        for name in operation.parameters:
            others = [each for each in operation.parameters if each != name]
            for text in TEXTS:
                path = ours.fill(operation.path, others).replace(f"{{{name}}}", quoted(text))
                answer = root.generic(operation.method.upper(), path, b"", JSON)
                if answer.status_code not in (400, 404, 414):
                    wrong.append(f"{operation} with {name}={text[:40]!r}: {answer.status_code}")
    assert not wrong, "\n".join(wrong)
    assert changes(before) == []


def test_no_parameter_of_a_list_fails(root, ours):
    wrong, tried = [], []
    for operation in operations():
        path = ours.fill(operation.path, operation.parameters)
        for parameter in operation.query_parameters() if operation.method == "get" else ():
            # The pages of all lists are the same code.
            if parameter in tried:
                continue
            tried.append(parameter)
            for text in TEXTS:
                answer = root.get(f"{path}?{parameter['name']}={quoted(text)}")
                if answer.status_code not in (200, 400, 404):
                    wrong.append(f"{operation} with {parameter['name']}={text[:40]!r}: {answer.status_code}")
    assert not wrong, "\n".join(wrong)
