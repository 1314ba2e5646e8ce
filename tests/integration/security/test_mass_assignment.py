"""Every object in every body has the fields of the schema and no others: not those of answers or tables."""

import copy
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from tests.integration.rest_support import client_of, make_user
from tests.integration.security.operations import (
    MULTIPART,
    Operation,
    alternatives,
    operations,
    property_names,
    resolved,
    with_ids,
)
from tests.integration.security.tenants import changes, snapshot, undone

pytestmark = pytest.mark.django_db

# What attackers set, beside the fields of answers and the columns of tables.
NAMES = {
    *("id", "pk", "owner", "owner_id", "user", "user_id", "office", "office_id", "tenant", "role_id"),
    *("status", "state", "created_at", "fence", "token", "secret", "secret_hash", "digest", "result_uri"),
    *("is_staff", "is_superuser", "is_admin", "__class__", "__proto__", "_state"),
}
# An answer names up to 20 fields; that of an upload names the first.
AT_ONCE = 20
SENTINEL = 1337133713371337
Path = tuple[str | int, ...]


def columns() -> set[str]:
    return {field.attname for model in apps.get_models() for field in model._meta.concrete_fields}


def is_stored(value: int) -> bool:
    tables = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    query = " UNION ALL ".join(
        f"SELECT 1 FROM \"{table}\" t WHERE t::text LIKE '%{value}%'" for table in tables
    )
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchone() is not None


def closed_objects(schema: dict[str, Any], value: Any, path: Path = ()) -> Iterator[tuple[Path, set[str]]]:
    """The objects in the value whose fields the schema names, with these names."""
    schema = resolved(schema)
    if isinstance(value, list):
        items = [part["items"] for part in alternatives(schema) if "items" in part]
        for place, item in enumerate(value):
            for each in items:
                yield from closed_objects(each, item, (*path, place))
    elif isinstance(value, dict):
        parts = [part for part in alternatives(schema) if "properties" in part]
        if parts and all(part.get("additionalProperties", True) is False for part in parts):
            yield path, property_names(schema)
        for part in alternatives(schema):
            for name, described in part.get("properties", {}).items():
                if name in value:
                    yield from closed_objects(described, value[name], (*path, name))


def objects_of(operation: Operation, example: dict[str, Any]) -> dict[Path, set[str]]:
    """Each closed object of an example once, with the names of all alternatives."""
    merged: dict[Path, set[str]] = {}
    for path, names in closed_objects(operation.schema(), example):
        merged.setdefault(path, set()).update(names)
    return merged


def with_fields(body: dict[str, Any], path: Path, fields: Iterable[str]) -> dict[str, Any]:
    body = copy.deepcopy(body)
    place: Any = body
    for step in path:
        place = place[step]
    place |= dict.fromkeys(fields, SENTINEL)
    return body


def test_every_body_is_closed():
    """Otherwise the test below would try nothing of it."""
    is_open = [
        str(operation)
        for operation in operations()
        if operation.media_type and () not in objects_of(operation, operation.examples()[0])
    ]
    assert is_open == []


def test_a_field_that_the_schema_does_not_name_is_refused_and_nothing_is_written(ours):
    root = client_of(make_user("root", is_superuser=True, is_staff=True))
    before, wrong, tried = snapshot(), [], 0
    for operation in operations():
        answered = {name for schema in operation.answer_schemas() for name in property_names(schema)}
        address = ours.fill(operation.path, operation.parameters)
        for example in operation.examples() if operation.media_type else ():
            for path, names in objects_of(operation, example).items():
                body = with_ids(example, ours.id_of)
                prefix = "".join(f"{step}." for step in path)
                for fields in batched(
                    sorted((answered | NAMES) - names), 1 if operation.media_type == MULTIPART else AT_ONCE
                ):
                    answer = operation.send(root, address, with_fields(body, path, fields))
                    errors = answer.json().get("errors", {}) if answer.status_code == 400 else {}
                    tried += len(fields)
                    if missing := [name for name in fields if prefix + name not in errors]:
                        wrong.append(f"{operation}: {answer.status_code}, {prefix}{missing} accepted")
                everything = with_fields(body, path, columns() - names)
                answer = operation.send(root, address, everything)
                if answer.status_code != 400:
                    wrong.append(f"{operation}: {answer.status_code} with all columns at {prefix!r}")
    assert tried > 1_000
    assert not wrong, "\n".join(wrong)
    assert changes(before) == []


def test_a_body_where_none_belongs_has_no_effect(ours):
    root = client_of(make_user("root", is_superuser=True, is_staff=True))
    wrong = []
    for operation in operations():
        if operation.media_type is None and operation.method != "get":
            path = ours.fill(operation.path, operation.parameters)
            with undone():
                answer = operation.send(root, path, dict.fromkeys(columns() | NAMES, SENTINEL))
                text = "" if answer.streaming else answer.content.decode()
                if answer.status_code >= 500 or str(SENTINEL) in text or is_stored(SENTINEL):
                    wrong.append(f"{operation}: {answer.status_code} {text[:200]}")
    assert not wrong, "\n".join(wrong)


def batched(names: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(names), size):
        yield names[start : start + size]
