"""The base of the pydantic models of the API's objects, and the types of their fields.

One model writes an object, or reads it from a request, and describes it in the API's schema. What it writes
comes from the attributes of a row, and is not checked again: the database has done that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Self, TypeVar
from uuid import UUID

from django.utils import timezone
from pydantic import (
    AliasGenerator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

JSON = dict[str, Any]

IN_CAMEL_CASE = ConfigDict(alias_generator=to_camel)
OUT_CAMEL_CASE = ConfigDict(alias_generator=AliasGenerator(serialization_alias=to_camel))


def iso_time(value: datetime | None) -> str | None:
    """ISO 8601, with the offset of the time zone in the settings."""
    return None if value is None else timezone.localtime(value, timezone.get_default_timezone()).isoformat()


def whole(value: object) -> object:
    """Convert 5.0, which is a whole number in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@dataclass(frozen=True, eq=False)
class AnyOf:
    """Describes a text by its values, as Django's choices or alone."""

    choices: Sequence[Any]

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JSON:
        pairs = [pair if isinstance(pair, tuple) else (pair, pair) for pair in self.choices]
        described: JSON = {"enum": [value for value, _ in pairs], "type": "string"}
        # The labels are part of the key by which drf-spectacular finds the same choices again.
        return described | ({"x-choices": pairs} if pairs != [(value, value) for value, _ in pairs] else {})


class OneOf(AnyOf):
    """Restricts a text to these values too."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.literal_schema(
            [choice[0] if isinstance(choice, tuple) else choice for choice in self.choices]
        )


class _NotNull:
    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        nullable: Any = handler(source)
        value: CoreSchema = nullable["schema"]
        return value


T = TypeVar("T")
# A field that may be left out, which is None here, and may not be null.
Omittable = Annotated[T | None, _NotNull()]
Time = Annotated[str, PlainValidator(iso_time), WithJsonSchema({"type": "string", "format": "date-time"})]
# Must come after Field(ge=…), or the bounds are missing from the JSON schema.
WHOLE = BeforeValidator(whole)
EMPTY_IS_NONE = BeforeValidator(lambda value: value or None)
# The rows of a relation.
ROWS = BeforeValidator(lambda related: list(related.all()))
# An object whose keys are the caller's: they are kept as they are, while texts are stripped.
Object = dict[Annotated[str, StringConstraints(strip_whitespace=False)], Any]
Uuid = Annotated[UUID, Field(strict=False)]
# 30 and 30.0 are written as they are.
Number = Annotated[int | float, WithJsonSchema({"type": "number"})]
TextOrNone = Annotated[str | None, EMPTY_IS_NONE]


class ApiModel(BaseModel):
    """An object of the API. Its name there is the class's without In or Out, or the title of its config.

    A docstring of a model is published as its description.
    """

    # Built when it is used: most processes use few of the models, and to build all would delay their start.
    model_config = ConfigDict(defer_build=True)


class ApiIn(ApiModel):
    """An object of a request. JSON's types are taken as they are: "5" is not a number, and true is not 1."""

    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=True)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_fields(cls, data: Any) -> Any:
        names = {field.alias or name for name, field in cls.model_fields.items()}
        if isinstance(data, Mapping) and (unknown := [name for name in data if name not in names]):
            fields = ", ".join(field.alias or name for name, field in cls.model_fields.items())
            raise PydanticCustomError("unknown_fields", "unknown", {"names": unknown, "fields": fields})
        return data

    def values(self) -> dict[str, Any]:
        """The fields that the request has, or that have a default."""
        values = self.model_dump()
        return {
            name: value
            for name, value in values.items()
            if name in self.model_fields_set or value is not None
        }


class ApiOut(ApiModel):
    """An object of an answer. All its fields are always there."""

    model_config = ConfigDict(from_attributes=True, json_schema_serialization_defaults_required=True)

    @classmethod
    def write(cls, row: object, **further: object) -> JSON:
        """The JSON of a row, or of a mapping; `further` are attributes that it lacks."""
        return cls.of(row, **further).dump()

    @classmethod
    def of(cls, row: object, **further: object) -> Self:
        return cls.model_validate(_Extended(row, further) if further else row)

    def dump(self) -> JSON:
        return self.model_dump(mode="json", by_alias=True)


class _Extended:
    """A row with further attributes."""

    def __init__(self, row: object, further: Mapping[str, object]) -> None:
        # The columns are copied, since each call of __getattr__ costs more than all of them.
        vars(self).update(getattr(row, "__dict__", ()), _row=row, **further)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._row, name)
