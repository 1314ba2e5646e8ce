"""The input of a workflow run, and the JSON Schema of a workflow that checks it.

A schema is limited so that each check ends soon: no regular expressions, which may take for ever; no
references but local ones, which must not lead back to themselves; and a bounded size once all references are
followed.
"""

from itertools import islice
from typing import Any
from urllib.parse import unquote

from jobs.errors import CodedError, ErrorText, Invalid
from jobs.json_schema import LONGEST_TEXT, Schema, UnusableSchema, check_syntax
from jobs.sql import call

MAX_INPUT_BYTES = 64 * 1024
MAX_SCHEMA_BYTES = 64 * 1024
MAX_SUBSCHEMAS = 2_000
SHOWN_ERRORS = 20
# The input of a run that a schedule starts, if the workflow has a schema.
WITHOUT_INPUT: dict[str, Any] = {}

UNSUPPORTED = {"pattern", "patternProperties", "$id", "$anchor", "$dynamicRef", "$dynamicAnchor"}
# Keywords whose value is a schema, a list of them, or an object of them.
SCHEMAS = {
    *("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"),
    *("unevaluatedItems", "unevaluatedProperties"),
}
LISTS = {"allOf", "anyOf", "oneOf", "prefixItems"}
OBJECTS = {"properties", "$defs", "definitions", "dependentSchemas"}


class SchemaRefused(CodedError):
    """A schema that cannot be checked, or not soon."""


def check_schema(schema: object) -> None:
    """Raises Invalid if this is no JSON Schema that can be checked soon."""
    try:
        if not isinstance(schema, dict):
            raise SchemaRefused("object")
        if len(call.as_json(schema).encode()) > MAX_SCHEMA_BYTES:
            raise SchemaRefused("at_most_bytes", limit=MAX_SCHEMA_BYTES)
        try:
            check_syntax(schema)
        except UnusableSchema as error:
            raise SchemaRefused("json_schema", text=str(error)) from None
        count_subschemas(schema, schema)
    except SchemaRefused as refused:
        raise Invalid(errors={"input_schema": [refused.text]}) from None


def check_input(schema: dict[str, Any] | None, value: object) -> None:
    """Raises Invalid, naming each part of the input that does not fit."""
    if len(call.as_json(value).encode()) > MAX_INPUT_BYTES:
        raise Invalid(errors={"input": [ErrorText("at_most_bytes", limit=MAX_INPUT_BYTES)]})
    if schema is None:
        return
    if errors := Schema(schema).errors(value):
        first = islice(errors.items(), SHOWN_ERRORS)
        raise Invalid(errors={f"input.{path}" if path else "input": texts for path, texts in first})


def check_start_without_input(schema: dict[str, Any]) -> None:
    """Raises Invalid unless a run that nobody gives an input may start."""
    try:
        check_input(schema, WITHOUT_INPUT)
    except Invalid as refused:
        text = ErrorText("schema_without_input", text=refused.summary())
        raise Invalid(errors={"input_schema": [text]}) from None


def count_subschemas(schema: object, root: dict[str, Any], followed: tuple[str, ...] = ()) -> int:
    """How many schemas a check may have to look at, each as often as references lead to it."""
    count = 1
    for keyword, value in schema.items() if isinstance(schema, dict) else ():
        if keyword in UNSUPPORTED:
            raise SchemaRefused("schema_keyword", name=keyword)
        if keyword == "$ref":
            if value in followed:
                raise SchemaRefused("schema_recursive", name=value)
            count += count_subschemas(_find(root, value), root, (*followed, value))
        elif keyword in SCHEMAS:
            count += count_subschemas(value, root, followed)
        elif keyword in LISTS or keyword in OBJECTS:
            parts = value if isinstance(value, list) else value.values()
            for part in parts:
                count += count_subschemas(part, root, followed)
                _limit(count)
        _limit(count)
    return count


def _limit(count: int) -> None:
    if count > MAX_SUBSCHEMAS:
        raise SchemaRefused("schema_too_large", limit=MAX_SUBSCHEMAS)


def _find(root: dict[str, Any], pointer: str) -> object:
    """The schema at a local JSON pointer, like `#/$defs/month`."""
    if pointer != "#" and not pointer.startswith("#/"):
        raise SchemaRefused("schema_reference", name=pointer[:LONGEST_TEXT])
    target: Any = root
    for part in pointer.split("/")[1:]:
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        try:
            target = target[int(name)] if isinstance(target, list) else target[name]
        except (KeyError, IndexError, TypeError, ValueError):
            raise SchemaRefused("schema_reference", name=pointer[:LONGEST_TEXT]) from None
    return target
