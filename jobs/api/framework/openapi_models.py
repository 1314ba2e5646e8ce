"""Describes the pydantic models of the API's objects in its schema, in the form of DRF's serializers."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.contrib.pydantic import PydanticExtension
from drf_spectacular.drainage import set_override
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent, list_hash
from drf_spectacular.utils import OpenApiExample
from pydantic.json_schema import GenerateJsonSchema

from jobs.api_model import JSON, ApiModel

# The order of keys in the schema; others come first.
ORDER = (
    *("enum", "type", "items", "format", "additionalProperties", "minLength", "maximum", "minimum"),
    *("description", "pattern", "maxLength", "maxItems"),
)


# Surrounding spaces are removed, so a text of spaces only would be empty.
NOT_BLANK = r"\S"


def add_examples(examples: Mapping[type[ApiModel], OpenApiExample]) -> None:
    """Examples of models, for operations that have none of their own."""
    for model, example in examples.items():
        set_override(model, "examples", [example])


class _Unsorted(GenerateJsonSchema):
    def sort(self, value: JSON, parent_key: str | None = None) -> JSON:
        return value


class ApiModelExtension(PydanticExtension):  # type: ignore[no-untyped-call]
    target_class = "jobs.api_model.ApiModel"
    priority = 1

    def get_name(self, auto_schema: AutoSchema, direction: str) -> str:
        super().get_name(auto_schema, direction)  # type: ignore[no-untyped-call]
        return _component_name(self.target.model_config.get("title") or self.target.__name__)

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> JSON:
        is_request = direction == "request"
        schema = self.target.model_json_schema(
            mode="validation" if is_request else "serialization",
            ref_template="{model}",
            schema_generator=_Unsorted,
        )
        parts = schema.pop("$defs", {})
        names = {
            key: _component_name(part["title"]) + ("Request" if is_request else "")
            for key, part in parts.items()
        }
        for key, part in parts.items():
            component = ResolvedComponent(  # type: ignore[no-untyped-call]
                names[key], ResolvedComponent.SCHEMA, _of_object(part, names), self.target
            )
            auto_schema.registry.register_on_missing(component)
        return _of_object(schema, names)


def _component_name(class_name: str) -> str:
    return class_name.removesuffix("Out").removesuffix("In")


def _of_object(schema: JSON, names: Mapping[str, str]) -> JSON:
    required = schema.get("required", ())
    fields = {
        name: _of_field(_without_default(field, is_required=name in required), names)
        for name, field in schema["properties"].items()
    }
    result = {"type": "object", "properties": fields, "required": sorted(required)}
    return {
        name: value
        for name in ("type", "description", "properties", "required", "additionalProperties")
        if (value := result.get(name, schema.get(name))) not in (None, [], True)
    }


def _without_default(field: JSON, *, is_required: bool) -> JSON:
    """Null is no default: the field may be left out."""
    if is_required or field.get("default", 0) is None:
        field.pop("default", None)
    return field


def _of_field(schema: JSON, names: Mapping[str, str]) -> JSON:
    schema.pop("title", None)
    if component := schema.pop("x-component", None):
        return {"$ref": f"#/components/schemas/{component}"}
    if "$ref" in schema:
        ref = {"$ref": f"#/components/schemas/{names[schema.pop('$ref')]}"}
        return {"allOf": [ref], **schema} if schema else ref
    if "anyOf" in schema:
        value, _ = schema.pop("anyOf")  # or null
        schema = _or_null(_of_field(value, names)) | schema
    if "items" in schema:
        schema["items"] = _of_field(schema["items"], names)
    if schema.get("additionalProperties") is True:
        schema["additionalProperties"] = {}
    elif "additionalProperties" in schema:
        schema["additionalProperties"] = _of_field(schema["additionalProperties"], names)
    if choices := schema.pop("x-choices", None):
        schema["x-spec-enum-id"] = list_hash(choices)
    _add_limits(schema)
    return schema if "oneOf" in schema else dict(sorted(schema.items(), key=_place))


def _add_limits(schema: JSON) -> None:
    if schema.get("minLength") == 1 and not schema.keys() & {"pattern", "format"}:
        schema["pattern"] = NOT_BLANK
    if "integer" in schema.get("type", ()) and schema.get("maximum", 0) >= 2**31:
        schema["format"] = "int64"
    if schema.get("type") in ("number", ["number", "null"]):
        schema["format"] = "double"


def _place(item: tuple[str, Any]) -> int:
    match item:
        case ("pattern", pattern) if pattern != NOT_BLANK:
            return ORDER.index("type")
        case ("format", "int64"):
            return ORDER.index("minimum")
    return ORDER.index(item[0]) if item[0] in ORDER else -1


def _or_null(schema: JSON) -> JSON:
    if "enum" in schema:
        return schema | {"enum": [*schema["enum"], None]}
    if "type" in schema:
        return schema | {"type": [schema["type"], "null"]}
    return {"oneOf": [schema, {"type": "null"}]} if schema else {}
