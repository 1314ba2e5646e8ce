"""A form made from the schema of a Task's arguments: a field for each, beside which its errors are shown."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from jobs.errors import ErrorText
from jobs.known_tasks import KnownTask
from jobs.pages.edit_form import EditForm
from scheduler.pages.forms import JSONTextField, json_text
from scheduler.pages.task_arguments import resolve

PREFIX = "arg_"
LEAST_NUMBER, GREATEST_NUMBER = -(2**63), 2**63 - 1
BOOLEANS = [("true", _("true")), ("false", _("false"))]


class TaskForm(EditForm):
    """An argument whose field is empty is not sent: the Task's default applies."""

    office = forms.ChoiceField(
        label=_("Office"),
        required=False,
        help_text=_("In an office it is a job, within the office's limits; without one it starts by itself."),
    )

    def __init__(self, task: KnownTask, offices: list[tuple[str, str]], data: Any = None) -> None:
        self.task = task
        schema = task.schema
        definitions = schema.get("$defs", {})
        self.required = set(schema.get("required", ()))
        properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
        initial = {
            PREFIX + name: _text(argument["default"])
            for name, argument in properties.items()
            if argument.get("default") is not None
        }
        fields = {PREFIX + name: _field(name, properties[name], definitions) for name in properties}
        self.base_fields = {**fields, **type(self).base_fields}  # type: ignore[misc]
        super().__init__(data, initial=initial)
        self.fields["office"].choices = [("", _("None")), *offices]  # type: ignore[attr-defined]

    @property
    def arguments(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith(PREFIX)]

    @property
    def args(self) -> dict[str, Any]:
        """The arguments whose fields are not empty."""
        return {
            name.removeprefix(PREFIX): _value(self.fields[name], value)
            for name, value in self.cleaned_data.items()
            if name.startswith(PREFIX) and self.data.get(name, "").strip()
        }

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for name in self.required:
            if not self.data.get(PREFIX + name, "").strip():
                self.add_errors({PREFIX + name: [ErrorText("required")]})
        if not self.errors:
            refusals = self.task.argument_errors(self.args)
            self.add_errors({PREFIX + path: texts for path, texts in refusals.items()})
        return data


def _field(name: str, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> forms.Field:
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
    return JSONTextField(label=_("%(name)s (JSON)") % {"name": name}, rows=4, empty="null")


def _value(field: forms.Field, value: Any) -> Any:
    is_boolean = isinstance(field, forms.ChoiceField) and BOOLEANS[0] in field.choices  # type: ignore[operator]
    return value == "true" if is_boolean else value


def _text(default: Any) -> str:
    return default if isinstance(default, str) else json_text(default)
