"""A form that creates or changes something through a verb, and shows what the verb refuses."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from django import forms

from jobs.errors import ErrorText, Refused

T = TypeVar("T")


class EditForm(forms.Form):
    """A form that reports what a verb refuses beside its fields."""

    # The form's fields for the API's, where they have another name.
    field_names: ClassVar[Mapping[str, str]] = {}

    def __init__(self, data: Any = None, *, initial: Mapping[str, Any]) -> None:
        super().__init__(data, initial=dict(initial), auto_id=False)
        for name, field in self.fields.items():
            field.widget.attrs["aria-describedby"] = f"why-{name}"

    def save(self, verb: Callable[[], T]) -> T | None:
        """What the verb returns; None if a field is wrong or the verb refuses, which the form then shows."""
        if not self.is_valid():
            return None
        try:
            return verb()
        except Refused as refused:
            self.add_refusal(refused)
            return None

    def add_refusal(self, refused: Refused) -> None:
        self.add_errors(refused.errors or {"": [refused.text]})

    def add_errors(self, errors: Mapping[str, Sequence[ErrorText]]) -> None:
        add_errors(self, errors, self.field_names)

    def preview_errors(self) -> list[tuple[str, list[Any]]]:
        """The errors of each field. Fields that are still empty have none yet."""
        return [
            (name, list(self.errors.get(name, [])) if self.data.get(name) else []) for name in self.fields
        ]


def add_errors(
    form: forms.BaseForm,
    errors: Mapping[str, Sequence[ErrorText]],
    field_names: Mapping[str, str] | None = None,
) -> None:
    """Add the errors to the fields that they are about, or to the form if it does not have the field."""
    for path, texts in errors.items():
        name = path.partition(".")[0]
        field = (field_names or {}).get(name, name)
        if field in form.fields:
            form.add_error(field, [str(text) for text in texts])
        else:
            form.add_error(None, [f"{path}: {text}" if path else str(text) for text in texts])
