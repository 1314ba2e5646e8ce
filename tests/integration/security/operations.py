"""The operations of docs/openapi.yaml, with requests made from their examples."""

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from jobs.api.framework.openapi_errors import METHODS
from tests.fuzz.object_ids import FIELDS
from tests.openapi import document

JSON = "application/json"
MULTIPART = "multipart/form-data"
PARAMETER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    described: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.method.upper()} {self.path}"

    @property
    def parameters(self) -> list[str]:
        """The names in the path, in order."""
        return PARAMETER.findall(self.path)

    @property
    def is_open(self) -> bool:
        return {} in self.described.get("security", [])

    @property
    def media_type(self) -> str | None:
        return next(iter(self.described.get("requestBody", {}).get("content", {})), None)

    def query_parameters(self) -> Iterator[dict[str, Any]]:
        yield from (each for each in self.described.get("parameters", ()) if each["in"] == "query")

    def examples(self) -> list[dict[str, Any]]:
        """The request's examples; one empty body for an operation without any."""
        if self.media_type is None:
            return [{}]
        content = self.described["requestBody"]["content"][self.media_type]
        return [copy.deepcopy(example["value"]) for example in content["examples"].values()]

    def schema(self) -> dict[str, Any]:
        return dict(self.described["requestBody"]["content"][self.media_type]["schema"])

    def answer_schemas(self) -> Iterator[dict[str, Any]]:
        for status, answer in self.described["responses"].items():
            if status < "300" and JSON in answer.get("content", {}):
                yield answer["content"][JSON]["schema"]

    def send(self, client: Client, path: str, body: dict[str, Any]) -> Any:
        headers: dict[str, Any] = {}
        data: Any = None
        if self.media_type == MULTIPART:
            data = {name: upload(value) if name == "file" else value for name, value in body.items()}
        elif self.method != "get":
            data, headers = body, {"content_type": JSON}
        return getattr(client, self.method)(path, data, **headers)


def upload(text: str) -> SimpleUploadedFile:
    return SimpleUploadedFile("match.jsonl", text.encode())


def operations() -> Iterator[Operation]:
    for path, methods in document()["paths"].items():
        for method in sorted(methods.keys() & METHODS):
            yield Operation(method, path, methods[method])


def with_ids(value: Any, find: Callable[[str], Any]) -> Any:
    """The body with the ids of existing objects in the fields that name one, and without waiting."""
    if isinstance(value, list):
        return [with_ids(item, find) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: find(FIELDS[name]) if name in FIELDS and isinstance(item, str) else with_ids(item, find)
        for name, item in value.items()
        if name != "wait"
    }


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = document()["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


def alternatives(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema, or every schema that it combines."""
    schema = resolved(schema)
    parts = [part for key in ("oneOf", "anyOf", "allOf") for part in schema.get(key, ())]
    for part in parts:
        yield from alternatives(part)
    if not parts:
        yield schema


def property_names(schema: dict[str, Any]) -> set[str]:
    return {name for part in alternatives(schema) for name in part.get("properties", {})}
