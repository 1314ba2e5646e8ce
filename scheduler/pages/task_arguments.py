"""Help beside the field of a Task's arguments: their names, types, limits and defaults."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from jobs import catalogue
from jobs.known_tasks import KnownTask

BOUNDS = {
    "minimum": "≥ {}",
    "exclusiveMinimum": "> {}",
    "maximum": "≤ {}",
    "exclusiveMaximum": "< {}",
    "minLength": "≥ {}",
    "maxLength": "≤ {}",
    "minItems": "≥ {}",
    "maxItems": "≤ {}",
}
# A sample of each type, for the example.
SAMPLES: dict[str, Any] = {
    "string": "…",
    "number": 1,
    "integer": 1,
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
}


@dataclass(frozen=True)
class Argument:
    name: str
    kind: str
    required: bool
    default: str
    limits: str


@dataclass(frozen=True)
class Help:
    task: KnownTask
    arguments: list[Argument]
    example: str


def help_for(task_id: str) -> Help | None:
    task = catalogue.find_public(task_id)
    if task is None:
        return None
    schema = task.schema
    required = set(schema.get("required", ()))
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    definitions = schema.get("$defs", {})
    arguments = [
        _argument(name, argument, name in required, definitions) for name, argument in properties.items()
    ]
    sample = {name: _sample(properties[name], definitions) for name in properties if name in required}
    return Help(task, arguments, json.dumps(sample, ensure_ascii=False))


def _argument(
    name: str, schema: Mapping[str, Any], required: bool, definitions: Mapping[str, Any]
) -> Argument:
    default = "" if required else json.dumps(schema.get("default"), ensure_ascii=False)
    limits = ", ".join(words.format(schema[bound]) for bound, words in BOUNDS.items() if bound in schema)
    return Argument(name, _kind(schema, definitions), required, default, limits)


def _kind(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    schema = resolve(schema, definitions)
    if "enum" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if options := schema.get("anyOf") or schema.get("oneOf"):
        kinds = dict.fromkeys(_kind(option, definitions) for option in options)
        if _kind_name("number") in kinds:
            kinds.pop(_kind_name("integer"), None)
        return _(" or ").join(kinds)
    kind = schema.get("type")
    if kind == "array":
        return _("list of %(kind)s") % {"kind": _kind(schema.get("items", {}), definitions)}
    return _kind_name(kind) if isinstance(kind, str) else _("anything")


def _kind_name(kind: str) -> str:
    names = {
        "string": _("text"),
        "number": _("number"),
        "integer": _("whole number"),
        "boolean": _("true or false"),
        "object": _("object"),
        "null": _("nothing"),
    }
    return names.get(kind, kind)


def _sample(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    schema = resolve(schema, definitions)
    if "enum" in schema:
        return schema["enum"][0]
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return _sample(options[0], definitions)
    if schema.get("type") == "array" and schema.get("items"):
        return [_sample(schema["items"], definitions)]
    least = schema.get("minimum")
    return least if least is not None else SAMPLES.get(str(schema.get("type")))


def resolve(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = str(schema.get("$ref", ""))
    return definitions.get(reference.rpartition("/")[2], schema) if reference else schema
