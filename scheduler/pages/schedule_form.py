"""The form of a schedule.

An edit writes only the changed fields, as PATCH does: a rule that is not changed keeps its next run.
"""

from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from jobs import activity, catalogue
from jobs.access import operated_offices
from jobs.errors import ErrorText, InvalidValue, Refused
from jobs.field_types import LONGEST_DELAY_MS, LONGEST_TIMEOUT_MS, MOST_RETRIES
from jobs.pages.edit_form import EditForm
from jobs.states import Backoff, OnLost
from scheduler import display
from scheduler.models import Calendar, Schedule
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
from scheduler.schedules.catchup import DEFAULT_GRACE_SECONDS, CatchUp
from scheduler.schedules.rules import TIMING, Kind, Rule
from scheduler.schedules.timezones import KOREAN_TIME
from scheduler.schedules.validation import (
    FIELD_OF_KIND,
    MAX_GRACE_SECONDS,
    MAX_INTERVAL_SECONDS,
    MAX_NOTIFY_AFTER,
    check_rule,
    check_task,
)
from scheduler.states import Overlap

POLICIES = (
    *("overlap", "catch_up", "grace", "calendar", "max_retries"),
    *("retry_backoff", "retry_base_delay", "timeout_ms", "on_lost"),
    *("notify_after_failures", "notify_after_missed", "notify_office"),
)
MOST_OFFICES = 500
AS_THE_TASK = _("As the Task says")
BACKOFFS = {Backoff.EXPONENTIAL: _("Exponential"), Backoff.LINEAR: _("Linear")}
ON_LOST = {OnLost.RETRY: _("Try again"), OnLost.FAIL: _("Fail")}
TIMES = ("at", "starts_at", "ends_at")
CRON_ATTRS = {
    "class": "mono",
    "placeholder": "0 9 * * MON-FRI",
    "autocapitalize": "none",
    "spellcheck": "false",
}
NEW = {
    "args": "{}",
    "kind": Kind.CRON.value,
    "unit": "minutes",
    "timezone": KOREAN_TIME,
    "overlap": Overlap.SKIP.value,
    "catch_up": CatchUp.LATEST.value,
    "grace": DEFAULT_GRACE_SECONDS,
    "max_retries": 3,
    "enabled": True,
}


class ScheduleForm(EditForm):
    field_names = {"every_seconds": "every"}

    name = forms.CharField(label=_("Name"), max_length=200)
    task_id = forms.CharField(label=_("Task"), max_length=200, widget=forms.Select)
    args = JSONTextField(label=_("Arguments (JSON)"), rows=5, empty="{}")
    kind = forms.ChoiceField(
        label=_("Schedule type"), choices=list(display.KINDS.items()), widget=forms.RadioSelect
    )
    cron = forms.CharField(
        label=_("Cron expression"), required=False, max_length=1000, widget=forms.TextInput(CRON_ATTRS)
    )
    every = forms.IntegerField(label=_("Repeat every"), required=False, min_value=1)
    unit = forms.ChoiceField(label=_("Unit"), choices=UNIT_CHOICES, required=False)
    at = datetime_field(_("Run at"))
    timezone = zone_field()
    starts_at = datetime_field(_("Starts on (optional)"))
    ends_at = datetime_field(_("Ends on (optional)"))
    overlap = forms.ChoiceField(
        label=_("If the previous run is still running"),
        choices=list(display.OVERLAPS.items()),
        widget=forms.RadioSelect,
    )
    catch_up = forms.ChoiceField(
        label=_("If runs were missed"), choices=list(display.CATCH_UPS.items()), widget=forms.RadioSelect
    )
    grace = forms.IntegerField(label=_("Grace period (seconds)"), min_value=1, max_value=MAX_GRACE_SECONDS)
    calendar = forms.UUIDField(label=_("Calendar"), required=False, widget=forms.Select)
    max_retries = forms.IntegerField(label=_("Max retries"), min_value=0, max_value=MOST_RETRIES)
    retry_backoff = forms.ChoiceField(
        label=_("Retry delays"), choices=[("", AS_THE_TASK), *BACKOFFS.items()], required=False
    )
    retry_base_delay = forms.IntegerField(
        label=_("First retry delay (ms)"), min_value=0, max_value=LONGEST_DELAY_MS, required=False
    )
    timeout_ms = forms.IntegerField(
        label=_("Time limit (ms)"), min_value=1, max_value=LONGEST_TIMEOUT_MS, required=False
    )
    on_lost = forms.ChoiceField(
        label=_("If the worker is lost"), choices=[("", AS_THE_TASK), *ON_LOST.items()], required=False
    )
    notify_after_failures = forms.IntegerField(
        label=_("Failed runs in a row"), min_value=1, max_value=MAX_NOTIFY_AFTER, required=False
    )
    notify_after_missed = forms.IntegerField(
        label=_("Missed runs"), min_value=1, max_value=MAX_NOTIFY_AFTER, required=False
    )
    notify_office = forms.UUIDField(
        label=_("Webhooks and mail of the office"), required=False, widget=forms.Select
    )
    enabled = forms.BooleanField(label=_("Enabled"), required=False)

    def __init__(
        self, data: Any = None, *, schedule: Schedule | None, owner: Any, now: datetime, **initial: Any
    ) -> None:
        super().__init__(data, initial=NEW | initial if schedule is None else values_of(schedule))
        self.schedule, self.owner, self.now = schedule, owner, now
        # The values for the verb: all fields of a new schedule, the changed fields of an existing one.
        self.values: dict[str, Any] = {}
        # Present as soon as the fields about time are valid.
        self.rule: Rule | None = None
        self.fields["args"].before = schedule.args if schedule else None  # type: ignore[attr-defined]
        tasks = [(task.task_id, task.task_id) for task in catalogue.public_tasks()]
        self.fields["task_id"].widget.choices = [("", "–"), *tasks]
        calendars = Calendar.objects.filter(owner=owner).values_list("id", "name") if owner else ()
        self.fields["calendar"].widget.choices = [("", "–"), *calendars]
        offices = operated_offices(owner).values_list("id", "name")[:MOST_OFFICES] if owner else ()
        self.fields["notify_office"].widget.choices = [("", "–"), *offices]

    def chosen_calendar(self) -> Calendar | None:
        """The calendar of the form if it is its owner's; the preview skips its times."""
        key = self.cleaned_data.get("calendar") if self.is_bound else self.initial.get("calendar")
        return Calendar.objects.filter(pk=key, owner=self.owner).first() if key and self.owner else None

    def clean(self) -> None:
        kind = self.cleaned_data.get("kind")
        for other, field in FIELD_OF_KIND.items():
            if other != kind:  # the fields of the other kinds are not visible
                self.errors.pop(self.field_names.get(field, field), None)
        values = self._all_values(kind)
        changed = self._changed_fields(kind)
        self.values = {name: value for name, value in values.items() if name in changed}
        if {"task_id", "args"} & changed and {"task_id", "args"}.isdisjoint(self.errors):
            try:
                check_task(values["task_id"], values["args"])
            except Refused as refused:
                self.add_refusal(refused)
        self._check_rule(changed)

    def _all_values(self, kind: str | None) -> dict[str, Any]:
        cleaned = self.cleaned_data
        args = cleaned.get("args")
        if "args" in cleaned and not isinstance(args, dict):
            self.add_errors({"args": [ErrorText("object")]})
        seconds = (cleaned.get("every") or 0) * UNITS.get(cleaned.get("unit") or "", 1)
        if seconds > MAX_INTERVAL_SECONDS and kind == Kind.INTERVAL:
            self.add_errors({"every": [ErrorText("at_most", limit=f"{MAX_INTERVAL_SECONDS} s")]})
        times = {name: self._instant(name) for name in TIMES if name != "at" or kind == Kind.ONCE}
        names = ("name", "task_id", "timezone", "enabled", *POLICIES)
        return {name: cleaned.get(name) for name in names} | {
            "args": args,
            "kind": kind,
            "cron": cleaned.get("cron", "") if kind == Kind.CRON else "",
            "every_seconds": seconds or None if kind == Kind.INTERVAL else None,
            "at": None,
            **times,
        }

    def _instant(self, name: str) -> datetime | None:
        if not (text := self.cleaned_data.get(name)):
            return None
        try:
            return instant(text, self.cleaned_data.get("timezone", ""))
        except InvalidValue as invalid:
            self.add_errors({name: [invalid.text]})
            return None

    def _changed_fields(self, kind: str | None) -> set[str]:
        """The changed fields, by the names of the API."""
        changed = {"every_seconds" if name in ("every", "unit") else name for name in self.changed_data}
        rule_fields = set(FIELD_OF_KIND.values())
        if self.schedule is None:
            return changed | set(self.fields) | rule_fields
        if "kind" in changed:
            changed |= rule_fields
        else:
            changed -= rule_fields - {FIELD_OF_KIND[Kind(self.schedule.kind)]}
        if "timezone" in changed:  # the same texts mean other times
            changed |= {name for name in TIMES if self.data.get(name)}
        return changed

    def _check_rule(self, changed: set[str]) -> None:
        if self.schedule is not None and not changed & set(TIMING):
            self.rule = self.schedule.rule
        elif {*TIMING, "every", "unit"}.isdisjoint(self.errors):
            before = activity.values_of(self.schedule, TIMING) if self.schedule else {}
            try:
                self.rule = check_rule(before | self.values, self.now)
            except Refused as refused:
                self.add_refusal(refused)


def values_of(schedule: Schedule) -> dict[str, Any]:
    every, unit = duration_parts(schedule.every_seconds) if schedule.every_seconds else (None, "minutes")
    names = ("name", "task_id", "kind", "cron", "timezone", "enabled", *POLICIES)
    return {
        **{name: getattr(schedule, name) for name in names},
        "calendar": schedule.calendar_id,
        "notify_office": schedule.notify_office_id,
        **{name: wall_text(getattr(schedule, name), schedule.timezone) for name in TIMES},
        "args": json_text(schedule.args),
        "every": every,
        "unit": unit,
    }
