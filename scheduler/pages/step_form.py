"""The form of one step of a workflow: name, Task, dependencies, arguments, and the other fields of a job.

What a field shows unchanged stays as it is in the step. What cannot be read is an error of its field.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobs import catalogue
from jobs.errors import InvalidValue
from jobs.field_types import LONGEST_TEXT
from jobs.pages.edit_form import EditForm
from jobs.references import INPUT, PATH, RESULT, MalformedReference, Reference, read_reference
from jobs.schemas import JobIn
from scheduler.pages.forms import JSONTextField
from scheduler.pages.schema_fields import field_of, json_field, text_of, value_of
from scheduler.workflows import editing
from scheduler.workflows.editing import Steps

ARG, SOURCE, PLACE = "arg_", "from_", "path_"
MAIN = ("ref", "task_id", "args", "depends_on")
# The sources of an argument: a value, the result of a dependency (with its name), the input of the run.
VALUE, RESULT_OF, RUN_INPUT = "", "result:", "input"


@dataclass(frozen=True)
class Row:
    """An argument: its field, or the path in its source."""

    field: forms.BoundField
    source: forms.BoundField


class StepForm(EditForm):
    prefix = "step"

    ref = forms.CharField(label=gettext_lazy("Name"), required=False, max_length=LONGEST_TEXT)
    task_id = forms.CharField(
        label=gettext_lazy("Task"), required=False, widget=forms.TextInput({"list": "tasks"})
    )
    depends_on = forms.MultipleChoiceField(
        label=gettext_lazy("Runs after"), required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, steps: Steps, place: int, *, as_json: bool = False, data: Any = None) -> None:
        self.steps, self.place, self.step = steps, place, steps[place]
        self.task = catalogue.find_public(str(self.step.get("task_id") or ""))
        schema = self.task.schema if self.task else {}
        self.properties, self.definitions = schema.get("properties", {}), schema.get("$defs", {})
        args = self.step.get("args")
        self.args: Any = {} if args is None else args
        self.has_form = (
            bool(self.properties)
            and isinstance(self.args, dict)
            and self.args.keys() <= self.properties.keys()
        )
        self.as_json = as_json or not self.has_form
        initial, fields = self._values()
        self.base_fields = {**type(self).base_fields, **fields}  # type: ignore[misc]
        super().__init__(data, initial=initial)
        self.fields["depends_on"].choices = self._choices()  # type: ignore[attr-defined]
        for name, field in self.fields.items():
            field.widget.attrs |= {"id": f"step-{name}", "aria-describedby": f"why-step-{name}"}

    # --- what is shown ---
    @property
    def name(self) -> str:
        return editing.name_of(self.steps, self.place)

    @property
    def rows(self) -> Iterator[Row]:
        for name in self.properties if not self.as_json else ():
            prefix = PLACE if PLACE + name in self.fields else ARG
            yield Row(self[prefix + name], self[SOURCE + name])

    @property
    def others(self) -> list[forms.BoundField]:
        return [self[name] for name in _other_fields()]

    @property
    def has_others(self) -> bool:
        return any(name in self.step for name in _other_fields())

    @property
    def shape(self) -> object:
        """Two forms of the same shape have the same fields."""
        fields = [(name, type(field), getattr(field, "choices", None)) for name, field in self.fields.items()]
        return self.as_json, fields, self.initial["task_id"], self.initial["depends_on"]

    def _values(self) -> tuple[dict[str, Any], dict[str, forms.Field]]:
        """The initial values, and the fields of this step alone."""
        places = self._places()
        initial: dict[str, Any] = {
            "ref": editing.ref_of(self.step),
            "task_id": str(self.step.get("task_id") or ""),
            "depends_on": [places[name] for name in editing.dependencies_of(self.step)],
        }
        fields: dict[str, forms.Field] = {}
        if self.as_json:
            fields["args"] = _field_for_value(json_field(_("Arguments")), self.args, _("Arguments"))
            initial["args"] = text_of(fields["args"], self.args) if self.args != {} else ""
        else:
            for name in self.properties:
                self._add_argument(name, initial, fields)
        for name, schema in _other_fields().items():
            fields[name] = _field_for_value(field_of(name, schema, {}), self.step.get(name), name)
            initial[name] = _field_text(fields[name], self.step.get(name))
        return initial, fields

    def _add_argument(self, name: str, initial: dict[str, Any], fields: dict[str, forms.Field]) -> None:
        schema, value = self.properties[name], self.args.get(name)
        reference = _reference(value)
        dependencies = dict.fromkeys(editing.dependencies_of(self.step))
        if reference is not None and not reference.is_input:
            dependencies[reference.name] = None  # one that is missing is shown all the same
        choices = [
            (VALUE, _("Value")),
            *((RESULT_OF + other, _("Result of %(name)s") % {"name": other}) for other in dependencies),
            (RUN_INPUT, _("Input of the run")),
        ]
        label = _("%(name)s comes from") % {"name": name}
        widget = forms.Select({"aria-label": label})
        fields[SOURCE + name] = forms.ChoiceField(choices=choices, required=False, widget=widget)
        if reference is None:
            initial[SOURCE + name] = VALUE
            field = _field_for_value(field_of(name, schema, self.definitions), value, name)
            if schema.get("default") is not None:
                field.widget.attrs["placeholder"] = text_of(field, schema["default"])
            fields[ARG + name], initial[ARG + name] = field, _field_text(field, value)
        else:
            initial[SOURCE + name] = RUN_INPUT if reference.is_input else RESULT_OF + reference.name
            fields[PLACE + name] = forms.CharField(label=_("%(name)s: path") % {"name": name}, required=False)
            fields[PLACE + name].widget.attrs["placeholder"] = "rows.0.id"
            initial[PLACE + name] = reference.path

    def _places(self) -> dict[str, str]:
        """The choice of each dependency: the place of the step, or the name of one that does not exist."""
        names = {name: f"?{name}" for name in editing.dependencies_of(self.step)}
        return names | {editing.ref_of(step): str(place) for place, step in enumerate(self.steps)}

    def _choices(self) -> list[tuple[str, str]]:
        steps = [
            (str(place), editing.name_of(self.steps, place))
            for place in range(len(self.steps))
            if place != self.place or str(place) in self.initial["depends_on"]
        ]
        missing = [value for value in self.initial["depends_on"] if value.startswith("?")]
        return steps + [(value, _("%(name)s (missing)") % {"name": value[1:]}) for value in missing]

    # --- what was typed ---
    def apply(self) -> Steps:
        """The steps with what was typed, as far as it can be read."""
        self.is_valid()
        steps = self.steps
        changes = {"task_id": self._set_values, "depends_on": self._set_dependencies, "ref": self._rename}
        for field, change in changes.items():
            try:
                steps = change(steps)
            except InvalidValue as invalid:
                self.add_errors({field: [invalid.text]})
        return steps

    def _rename(self, steps: Steps) -> Steps:
        if "ref" not in self.cleaned_data or self._text("ref") == self.initial["ref"]:
            return steps
        return editing.rename(steps, self.place, self.cleaned_data["ref"])

    def _set_dependencies(self, steps: Steps) -> Steps:
        values, before = self.cleaned_data.get("depends_on"), self.initial["depends_on"]
        if values is None:
            return steps
        for name, value in self._places().items():
            if value in before and value not in values:
                steps = editing.forget(steps, self.place, name)
        for value in values:
            if value not in before and value.isdecimal():
                steps = editing.connect(steps, self.place, int(value))
        return steps

    def _set_values(self, steps: Steps) -> Steps:
        values = {name: self._input_value(name, self.step.get(name)) for name in _other_fields()}
        if self.cleaned_data.get("task_id") and self._text("task_id") != self.initial["task_id"]:
            values["task_id"] = self.cleaned_data["task_id"]
        args = self._input_value("args", self.step.get("args")) if self.as_json else self._typed_args()
        if args != self.args:
            values["args"] = args or None
        return editing.change(steps, self.place, values)

    def _typed_args(self) -> dict[str, Any]:
        args = {name: self._typed_argument(name, self.args.get(name)) for name in self.properties}
        # An argument that was null, and still is, stays.
        return {name: value for name, value in args.items() if value is not None or self._is_same_null(name)}

    def _is_same_null(self, name: str) -> bool:
        return name in self.args and self.args[name] is None

    def _typed_argument(self, name: str, before: Any) -> Any:
        source = self.cleaned_data.get(SOURCE + name, VALUE)
        if source == self.initial[SOURCE + name]:
            if source == VALUE:
                return self._input_value(ARG + name, before)
            if self.cleaned_data.get(PLACE + name) == self.initial[PLACE + name]:
                return before
        path = self.cleaned_data.get(PLACE + name, "")
        if source == RUN_INPUT:
            return {INPUT: path}
        if source.startswith(RESULT_OF):
            return {RESULT: source.removeprefix(RESULT_OF)} | ({PATH: path} if path else {})
        return None

    def _text(self, name: str) -> str:
        # A browser sends the lines of a text with CR and LF.
        return str(self.data.get(self.add_prefix(name), "")).replace("\r\n", "\n")

    def _input_value(self, name: str, before: Any) -> Any:
        """The value of a field: None if it is empty, and the one before if it is unchanged or unreadable."""
        text = self._text(name)
        if name not in self.cleaned_data or text == self.initial[name]:
            return before
        if not text.strip():
            return None
        field = self.fields[name]
        is_text = isinstance(field, forms.CharField) and not isinstance(field, JSONTextField)
        return text if is_text else value_of(field, self.cleaned_data[name])


@cache
def _other_fields() -> dict[str, Any]:
    properties = JobIn.model_json_schema()["properties"]
    return {name: schema for name, schema in properties.items() if name not in MAIN}


def _reference(value: Any) -> Reference | None:
    try:
        return read_reference(value)
    except MalformedReference:
        return None


def _field_text(field: forms.Field, value: Any) -> str:
    return "" if value is None else text_of(field, value)


def _field_for_value(field: forms.Field, value: Any, name: str) -> forms.Field:
    """The field if it can show this value, else one of JSON."""
    if value is not None and not isinstance(field, JSONTextField):
        try:
            read = value_of(field, field.clean(text_of(field, value)))
        except forms.ValidationError:
            read = None
        if read != value:
            field = json_field(name)
    if isinstance(field, JSONTextField):
        # The form of the workflow restores what is masked.
        field.before, field.keeps_masks = value, True
    if isinstance(field.widget, forms.Textarea) and name in _other_fields():
        field.widget = forms.TextInput()
    return field
