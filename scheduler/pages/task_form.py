"""A form made from the schema of a Task's arguments: a field for each, beside which its errors are shown."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from jobs.errors import ErrorText
from jobs.known_tasks import KnownTask
from jobs.pages.edit_form import EditForm
from scheduler.pages.schema_fields import field_of, text_of, value_of

PREFIX = "arg_"


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
        fields = {PREFIX + name: field_of(name, properties[name], definitions) for name in properties}
        initial = {
            PREFIX + name: text_of(fields[PREFIX + name], argument["default"])
            for name, argument in properties.items()
            if argument.get("default") is not None
        }
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
            name.removeprefix(PREFIX): value_of(self.fields[name], value)
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
