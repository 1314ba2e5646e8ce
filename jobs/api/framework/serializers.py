"""Serializers that refuse unknown fields and values of another JSON type.

A misspelt field must not be ignored. JSON has types of its own: `"5"` is not a number here, `1` is not a
boolean, and `"nan"` is neither, whatever Django's forms make of them.
"""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from dure import roles
from jobs.errors import ErrorText, in_english

NUMBER, WHOLE, TEXT, FLAG = "a number", "a whole number", "a text", "true or false"


class StrictFields:
    def to_internal_value(self, data: Any) -> Any:
        fields: Mapping[str, serializers.Field[Any, Any, Any, Any]] = self.fields  # type: ignore[attr-defined]
        if isinstance(data, Mapping):
            takes = [name for name, field in fields.items() if not field.read_only]
            unknown = [str(name) for name in data if name not in fields or fields[name].read_only]
            if unknown:
                sentence = f"There is no such field to set; there are: {', '.join(takes)}."
                raise serializers.ValidationError({name[:100]: [sentence] for name in unknown[:20]})
            mistyped = {
                name: [f"Expected {expected}."]
                for name, value in data.items()
                if value is not None and (expected := expected_type(fields[name], value))
            }
            if mistyped:
                raise serializers.ValidationError(mistyped)
        return super().to_internal_value(data)  # type: ignore[misc]


def expected_type(field: Any, value: Any) -> str | None:
    """The JSON type that the field expects if the value has another one, else None."""
    match field:
        case serializers.ListField() | serializers.MultipleChoiceField():
            return None if isinstance(value, list) else "a list"
        case serializers.BooleanField():
            return None if isinstance(value, bool) else FLAG
        case serializers.IntegerField():
            return None if isinstance(value, (int, float)) and not isinstance(value, bool) else WHOLE
        case serializers.FloatField():
            return None if isinstance(value, (int, float)) and not isinstance(value, bool) else NUMBER
        case serializers.ChoiceField() | serializers.CharField() | serializers.UUIDField():
            return None if isinstance(value, str) else TEXT
        case serializers.DateTimeField():
            return None if isinstance(value, str) else TEXT
    return None


@extend_schema_field({"type": "string", "pattern": roles.PATTERN})
class RoleField(serializers.CharField):
    def to_internal_value(self, data: object) -> str:
        if not isinstance(data, str) or not roles.is_role(data):
            raise serializers.ValidationError(in_english(ErrorText("role_name")))
        return data


# Without docstrings: the API's schema would show them for each serializer that has none.
class StrictSerializer(StrictFields, serializers.Serializer[Any]):
    pass


class StrictModelSerializer(StrictFields, serializers.ModelSerializer[Any]):
    pass


def validated(serializer: StrictSerializer) -> dict[str, Any]:
    """The data of the request, or a ValidationError."""
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)
