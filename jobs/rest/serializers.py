"""Serializers that refuse what they do not know: a misspelt field must not be ignored."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers


class _RefuseUnknown:
    def to_internal_value(self, data: Any) -> Any:
        fields: Mapping[str, serializers.Field[Any, Any, Any, Any]] = self.fields  # type: ignore[attr-defined]
        if isinstance(data, Mapping):
            takes = [name for name, field in fields.items() if not field.read_only]
            unknown = [str(name) for name in data if name not in fields or fields[name].read_only]
            if unknown:
                sentence = f"There is no such field to set; there are: {', '.join(takes)}."
                raise serializers.ValidationError({name[:100]: [sentence] for name in unknown[:20]})
        return super().to_internal_value(data)  # type: ignore[misc]


class StrictSerializer(_RefuseUnknown, serializers.Serializer[Any]):
    """Refuses unknown and read-only fields (400)."""


class StrictModelSerializer(_RefuseUnknown, serializers.ModelSerializer[Any]):
    """Refuses unknown and read-only fields (400)."""
