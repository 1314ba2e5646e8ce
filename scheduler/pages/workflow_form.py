"""The form of a workflow, and its fields for a schedule_config.

An edit writes only the fields that were changed, as PATCH does: a schedule that is not changed keeps its
pending run.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from jobs.errors import ErrorText, FieldErrors, InvalidValue, Refused
from jobs.models import Office
from jobs.pages.edit_form import EditForm
from scheduler.display import state_choices
from scheduler.models import Workflow
from scheduler.pages.forms import (
    UNIT_CHOICES,
    UNITS,
    JSONTextField,
    datetime_field,
    duration_parts,
    instant,
    json_text,
    wall_text,
    zone_field,
)
from scheduler.pages.steps_graph import steps_of
from scheduler.schedules.timezones import KOREAN_TIME
from scheduler.states import WorkflowStatus
from scheduler.workflows import recurrence
from scheduler.workflows.lifecycle import MAX_RUN_RETRIES
from scheduler.workflows.recurrence import ConfigError, ScheduleConfig
from scheduler.workflows.steps import prepare

CONFIG = "schedule_config"
CONFIG_FIELDS = (
    *("mode", "delay", "unit", "at", "pattern", "time", "more_times", "days_of_week", "every_weeks"),
    *("starts_on", "day_of_month", "timezone"),
)
MODES = [
    ("immediate", _("Immediately")),
    ("delayed", _("After a delay")),
    ("scheduled", _("At a specific time")),
    ("recurring", _("Recurring")),
]
PATTERNS = [("daily", _("Daily")), ("weekly", _("Weekly")), ("monthly", _("Monthly"))]
DAYS = [*((str(day), str(day)) for day in range(1, 32)), ("last", _("Last day"))]
# For the help of the field.
EXAMPLE = [
    {"ref": "load", "task_id": "demo.sum", "args": {"numbers": [1, 2]}},
    {
        "ref": "send",
        "task_id": "demo.sum",
        "args": {"numbers": [{"$result": "load"}]},
        "depends_on": ["load"],
    },
]
FIRST_KEYS = ("ref", "task_id", "args", "depends_on")
NEW_CONFIG = {
    "mode": "recurring",
    "unit": "minutes",
    "pattern": "daily",
    "time": "09:00",
    "more_times": "",
    "every_weeks": 1,
    "starts_on": "",
    "day_of_month": "1",
    "timezone": KOREAN_TIME,
}


class WorkflowForm(EditForm):
    field_names = {CONFIG: "mode", "delay_seconds": "delay", "times": "more_times"}

    office = forms.CharField(label=_("Office"), required=False, widget=forms.Select)
    name = forms.CharField(label=_("Name"), max_length=200)
    status = forms.ChoiceField(label=_("State"), choices=state_choices(WorkflowStatus))
    steps = JSONTextField(label=_("Steps (JSON)"), rows=18, empty="[]")
    max_run_retries = forms.IntegerField(
        label=_("Automatic retries of a failed run"), min_value=0, max_value=MAX_RUN_RETRIES
    )
    mode = forms.ChoiceField(label=_("Trigger"), choices=MODES, widget=forms.RadioSelect)
    delay = forms.IntegerField(label=_("Delay"), required=False, min_value=0)
    unit = forms.ChoiceField(label=_("Unit"), choices=UNIT_CHOICES, required=False)
    at = datetime_field(_("Run at (Korean time)"))
    pattern = forms.ChoiceField(
        label=_("Frequency"), choices=PATTERNS, required=False, widget=forms.RadioSelect
    )
    time = forms.CharField(label=_("Time"), required=False, widget=forms.TimeInput({"type": "time"}))
    more_times = forms.CharField(
        label=_("More times of the day, with commas"), required=False, max_length=200, empty_value=""
    )
    every_weeks = forms.IntegerField(
        label=_("Every so many weeks"), required=False, min_value=1, max_value=recurrence.MAX_WEEKS
    )
    starts_on = forms.CharField(
        label=_("From the week of"), required=False, widget=forms.DateInput({"type": "date"})
    )
    days_of_week = forms.MultipleChoiceField(
        label=_("Days of the week"),
        choices=[(str(day), name) for day, name in WEEKDAYS.items()],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    day_of_month = forms.ChoiceField(label=_("Day of the month"), choices=DAYS, required=False)
    timezone = zone_field()

    def __init__(
        self,
        data: Any = None,
        *,
        workflow: Workflow | None,
        office: Office | None,
        offices: Iterable[Office] = (),
    ) -> None:
        super().__init__(data, initial=values_of(workflow) if workflow else new_values(office))
        self.workflow, self.target_office = workflow, office
        # The values for the verb: all fields of a new workflow, the changed fields of an existing one.
        self.values: dict[str, Any] = {}
        # Only the valid ones.
        self.config: ScheduleConfig | None = None
        self.parsed_steps: Any = None
        # The errors of each step by its field.
        self.step_errors: dict[int, FieldErrors] = {}
        self.fields["steps"].before = workflow.steps if workflow else None  # type: ignore[attr-defined]
        # It stands in the editor, which has forms of its own.
        self.fields["steps"].widget.attrs |= {"id": "steps-json", "form": "form"}
        if workflow is None:
            choices = [(str(row.id), row.name) for row in offices]
            self.fields["office"].widget.choices = choices
        else:
            del self.fields["office"]

    def clean(self) -> None:
        if self.target_office is None:
            self.add_error("office", gettext("Choose an office in which you are an operator."))
        config = self._config()
        values = {
            name: self.cleaned_data.get(name) for name in ("name", "status", "steps", "max_run_retries")
        }
        values[CONFIG] = config
        self.parsed_steps = values["steps"]
        if self.workflow is None:
            self.values = values
        else:
            changed = {CONFIG if name in CONFIG_FIELDS else name for name in self.changed_data}
            if config == config_data(self.initial):
                changed.discard(CONFIG)  # a field of another mode was changed
            self.values = {name: value for name, value in values.items() if name in changed}
        if self.target_office is not None and "steps" in self.cleaned_data:
            try:
                prepare(self.target_office, self.parsed_steps)
            except Refused as refused:
                self.add_refusal(refused)

    def _config(self) -> dict[str, Any] | None:
        mode = self.cleaned_data.get("mode")
        own = {"delayed": "delay", "scheduled": "at"}.get(mode or "")
        for field in ("delay", "at"):
            if field != own:  # the field of another mode is not visible
                self.errors.pop(field, None)
        if self.errors.keys() & CONFIG_FIELDS:
            return None
        if own and self.cleaned_data.get(own) in ("", None):
            code = "time_example" if own == "at" else "required"
            self.add_errors({own: [ErrorText(code)]})
            return None
        try:
            config = config_data(self.cleaned_data)
            self.config = recurrence.read(config)
        except InvalidValue as invalid:
            self.add_errors({"at": [invalid.text]})
            return None
        except ConfigError as invalid:
            self.add_errors(invalid.errors)
            return None
        return config

    def add_errors(self, errors: Mapping[str, Sequence[ErrorText]]) -> None:
        """Errors of a step name the step; those of the schedule belong to the fields of its mode."""
        refs = [step.node.ref for step in steps_of(self.parsed_steps)]
        for path, texts in errors.items():
            field, _dot, rest = path.partition(".")
            if field == "steps" and rest:
                self.add_error("steps", [f"{_step_name(rest, refs)}: {text}" for text in texts])
                place, _dot, name = rest.partition(".")
                if place.isdecimal():
                    self.step_errors.setdefault(int(place), {}).setdefault(name, []).extend(texts)
            else:
                super().add_errors({path.removeprefix(f"{CONFIG}."): texts})


def new_values(office: Office | None) -> dict[str, Any]:
    return NEW_CONFIG | {
        "office": str(office.id) if office else "",
        "status": WorkflowStatus.DRAFT.value,
        "max_run_retries": 0,
        "steps": "",
    }


def values_of(workflow: Workflow) -> dict[str, Any]:
    config = recurrence.read(workflow.schedule_config)
    return {
        **NEW_CONFIG,
        **config_values(config),
        "mode": config.mode,
        "name": workflow.name,
        "status": workflow.status,
        "max_run_retries": workflow.max_run_retries,
        "steps": json_text([_in_order(step) for step in workflow.steps]),
    }


def _in_order(step: Mapping[str, Any]) -> dict[str, Any]:
    """PostgreSQL does not keep the order of an object's keys."""
    return {name: step[name] for name in (*FIRST_KEYS, *step) if name in step}


def config_values(config: ScheduleConfig) -> dict[str, Any]:
    """The form's fields of a schedule_config."""
    match config:
        case recurrence.Delayed():
            delay, unit = duration_parts(config.delay_seconds)
            return {"delay": delay, "unit": unit}
        case recurrence.Scheduled():
            return {"at": wall_text(config.at, KOREAN_TIME)}
        case recurrence.Recurring():
            return {
                "pattern": config.pattern,
                "time": config.clock_times[0],
                "more_times": ", ".join(config.clock_times[1:]),
                "every_weeks": config.every_weeks or 1,
                "starts_on": str(config.starts_on or ""),
                "days_of_week": [str(day) for day in config.days_of_week or ()],
                "day_of_month": str(config.day_of_month or 1),
                "timezone": config.timezone,
            }
    return {}


def config_data(values: Mapping[str, Any]) -> dict[str, Any]:
    """The schedule_config of the form's fields."""
    config: dict[str, Any] = {"mode": values["mode"]}
    match values["mode"]:
        case "delayed":
            config["delay_seconds"] = values["delay"] * UNITS[values["unit"] or "seconds"]
        case "scheduled":
            config["at"] = instant(values["at"], KOREAN_TIME).isoformat()
        case "recurring":
            config |= {name: values[name] for name in ("pattern", "timezone")}
            more = [text.strip() for text in values["more_times"].split(",") if text.strip()]
            config |= {"times": [values["time"], *more]} if more else {"time": values["time"]}
            if values["pattern"] == "weekly":
                config["days_of_week"] = sorted(int(day) for day in values["days_of_week"])
                weeks = values["every_weeks"] or 1
                if weeks > 1 or values["starts_on"]:
                    config |= {"every_weeks": weeks, "starts_on": values["starts_on"]}
            if values["pattern"] == "monthly":
                day = values["day_of_month"]
                config["day_of_month"] = int(day) if day.isdecimal() else day
    return config


def _step_name(path: str, refs: Sequence[str]) -> str:
    """`2.task_id` for readers: the third step, its ref if it has one, and the field."""
    index_text, _dot, field = path.partition(".")
    index = int(index_text) if index_text.isdecimal() and len(index_text) < 7 else None
    if index is None:
        return path
    ref = refs[index] if index < len(refs) else ""
    step = gettext("step %(number)s") % {"number": index + 1} + (f" ({ref})" if ref else "")
    return f"{step}, {field}" if field else step
