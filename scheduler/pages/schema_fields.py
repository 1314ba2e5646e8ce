"""Form fields made from the JSON Schema of arguments, and the values of what was typed into them."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from scheduler.pages.forms import JSONTextField, json_text
from scheduler.pages.task_arguments import resolve

LEAST_NUMBER, GREATEST_NUMBER = -(2**63), 2**63 - 1
BOOLEANS = [("true", _("true")), ("false", _("false"))]


def field_of(name: str, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> forms.Field:
    """The field of an argument of this schema. It is not required: forms check that themselves."""
    schema = resolve(schema, definitions)
    options = [resolve(option, definitions) for option in schema.get("anyOf", ())]
    not_null = [option for option in options if option.get("type") != "null"]
    if len(not_null) == 1:
        # An empty field stands for null.
        schema = not_null[0]
    label, kind = name, schema.get("type")
    if "enum" in schema and all(isinstance(value, str) for value in schema["enum"]):
        choices = [("", "–"), *((value, value) for value in schema["enum"])]
        return forms.ChoiceField(label=label, required=False, choices=choices)
    if kind == "boolean":
        return forms.ChoiceField(label=label, required=False, choices=[("", "–"), *BOOLEANS])
    if kind == "integer":
        return forms.IntegerField(
            label=label, required=False, min_value=LEAST_NUMBER, max_value=GREATEST_NUMBER
        )
    if kind == "number":
        return forms.FloatField(label=label, required=False, widget=forms.NumberInput({"step": "any"}))
    if kind == "string":
        widget = forms.Textarea({"rows": 2, "cols": None, "spellcheck": "false"})
        return forms.CharField(label=label, required=False, strip=False, widget=widget)
    return json_field(name)


def json_field(name: str) -> JSONTextField:
    return JSONTextField(label=_("%(name)s (JSON)") % {"name": name}, rows=4, empty="null")


def value_of(field: forms.Field, value: Any) -> Any:
    """The argument's value for the cleaned one of the field."""
    is_boolean = isinstance(field, forms.ChoiceField) and BOOLEANS[0] in field.choices  # type: ignore[operator]
    return value == "true" if is_boolean else value


def text_of(field: forms.Field, value: Any) -> str:
    """The text of the field for this value."""
    return value if isinstance(value, str) and not isinstance(field, JSONTextField) else json_text(value)
