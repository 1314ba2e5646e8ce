"""What a Task takes, as help beside the field in which its arguments are written."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from jobs import registry
from jobs.registry import Task

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
# Something of each type, for an example.
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
    task: Task
    arguments: list[Argument]
    example: str


def choosable() -> list[Task]:
    return [task for task in registry.all_tasks() if task.public]


def help_of(task_id: str) -> Help | None:
    try:
        task = registry.find(task_id)
    except registry.UnknownTask:
        return None
    if not task.public:
        return None
    schema = task.schema
    required = set(schema.get("required", ()))
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    known = schema.get("$defs", {})
    arguments = [_argument(name, one, name in required, known) for name, one in properties.items()]
    sample = {name: _sample(properties[name], known) for name in properties if name in required}
    return Help(task, arguments, json.dumps(sample, ensure_ascii=False))


def _argument(name: str, one: Mapping[str, Any], required: bool, known: Mapping[str, Any]) -> Argument:
    default = "" if required else json.dumps(one.get("default"), ensure_ascii=False)
    limits = ", ".join(words.format(one[bound]) for bound, words in BOUNDS.items() if bound in one)
    return Argument(name, _kind(one, known), required, default, limits)


def _kind(one: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    one = _meant(one, known)
    if "enum" in one:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in one["enum"])
    if options := one.get("anyOf") or one.get("oneOf"):
        kinds = dict.fromkeys(_kind(option, known) for option in options)
        if _named("number") in kinds:
            kinds.pop(_named("integer"), None)
        return _(" or ").join(kinds)
    kind = one.get("type")
    if kind == "array":
        return _("list of %(kind)s") % {"kind": _kind(one.get("items", {}), known)}
    return _named(kind) if isinstance(kind, str) else _("anything")


def _named(kind: str) -> str:
    names = {
        "string": _("text"),
        "number": _("number"),
        "integer": _("whole number"),
        "boolean": _("true or false"),
        "object": _("object"),
        "null": _("nothing"),
    }
    return names.get(kind, kind)


def _sample(one: Mapping[str, Any], known: Mapping[str, Any]) -> Any:
    one = _meant(one, known)
    if "enum" in one:
        return one["enum"][0]
    if options := one.get("anyOf") or one.get("oneOf"):
        return _sample(options[0], known)
    if one.get("type") == "array" and one.get("items"):
        return [_sample(one["items"], known)]
    least = one.get("minimum")
    return least if least is not None else SAMPLES.get(str(one.get("type")))


def _meant(one: Mapping[str, Any], known: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = str(one.get("$ref", ""))
    return known.get(reference.rpartition("/")[2], one) if reference else one
