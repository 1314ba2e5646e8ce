"""The form of a schedule: creating and editing one, with a preview of its next runs.

An edit writes only the changed fields, as PATCH does: a rule that is not changed keeps its next run.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from jobs.errors import ErrorText, InvalidValue, Refused
from jobs.pages.permissions import current_user
from scheduler import display
from scheduler.access import schedule_for
from scheduler.clock import database_now
from scheduler.models import Schedule
from scheduler.pages.forms import (
    UNIT_CHOICES,
    UNITS,
    EditForm,
    JSONTextField,
    datetime_field,
    duration_parts,
    instant,
    json_text,
    wall_text,
    zone_field,
)
from scheduler.pages.task_arguments import help_for, public_tasks
from scheduler.pages.times import COMMON_ZONES, language, moments
from scheduler.schedules import lifecycle as schedules
from scheduler.schedules import rules, words
from scheduler.schedules.catchup import CatchUp
from scheduler.schedules.rules import Kind, Rule
from scheduler.schedules.timezones import KOREAN_TIME
from scheduler.schedules.validation import (
    FIELD_OF_KIND,
    MAX_INTERVAL_SECONDS,
    MAX_RETRIES,
    TIMING,
    check_rule,
    check_task,
)
from scheduler.states import Overlap

TIMES = ("at", "starts_at", "ends_at")
PREVIEWED_RUNS = 5
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
    max_retries = forms.IntegerField(label=_("Max retries"), min_value=0, max_value=MAX_RETRIES)
    enabled = forms.BooleanField(label=_("Enabled"), required=False)

    def __init__(self, data: Any = None, *, schedule: Schedule | None, now: datetime, **initial: Any) -> None:
        super().__init__(data, initial=NEW | initial if schedule is None else values_of(schedule))
        self.schedule, self.now = schedule, now
        # The values for the verb: all fields of a new schedule, the changed fields of an existing one.
        self.values: dict[str, Any] = {}
        # Present as soon as the fields about time are valid.
        self.rule: Rule | None = None
        self.fields["args"].before = schedule.args if schedule else None  # type: ignore[attr-defined]
        tasks = [(task.task_id, task.task_id) for task in public_tasks()]
        self.fields["task_id"].widget.choices = [("", "–"), *tasks]

    def clean(self) -> None:
        kind = self.cleaned_data.get("kind")
        for other, field in FIELD_OF_KIND.items():
            if other != kind:  # the fields of the other kinds are not visible
                self.errors.pop(self.field_names.get(field, field), None)
        values = self._all_values(kind)
        changed = self._changed(kind)
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
        names = ("name", "task_id", "timezone", "overlap", "catch_up", "max_retries", "enabled")
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

    def _changed(self, kind: str | None) -> set[str]:
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
            before = {name: getattr(self.schedule, name) for name in TIMING} if self.schedule else {}
            try:
                self.rule = check_rule(before | self.values, self.now)
            except Refused as refused:
                self.add_refusal(refused)


def values_of(schedule: Schedule) -> dict[str, Any]:
    every, unit = duration_parts(schedule.every_seconds) if schedule.every_seconds else (None, "minutes")
    names = ("name", "task_id", "kind", "cron", "timezone", "overlap", "catch_up", "max_retries", "enabled")
    return {
        **{name: getattr(schedule, name) for name in names},
        **{name: wall_text(getattr(schedule, name), schedule.timezone) for name in TIMES},
        "args": json_text(schedule.args),
        "every": every,
        "unit": unit,
    }


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def new(request: HttpRequest) -> HttpResponse:
    current_user(request)
    if request.method == "POST":
        return _save(request, None)
    initial = {name: request.GET[name] for name in ("name", "task_id", "args") if name in request.GET}
    return _render(request, ScheduleForm(schedule=None, now=database_now(), **initial))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def edit(request: HttpRequest, schedule_id: UUID) -> HttpResponse:
    schedule = schedule_for(current_user(request), schedule_id, acts=True)
    if request.method == "POST":
        return _save(request, schedule)
    return _render(request, ScheduleForm(schedule=schedule, now=database_now()))


@require_POST
@login_required
def preview_new(request: HttpRequest) -> HttpResponse:
    current_user(request)
    return _preview(request, None)


@require_POST
@login_required
def preview(request: HttpRequest, schedule_id: UUID) -> HttpResponse:
    return _preview(request, schedule_for(current_user(request), schedule_id, acts=True))


def _save(request: HttpRequest, schedule: Schedule | None) -> HttpResponse:
    now = database_now()
    form = ScheduleForm(request.POST, schedule=schedule, now=now)
    if not form.is_valid():
        return _render(request, form)
    try:
        if schedule is None:
            saved = schedules.create(form.values, owner=current_user(request), now=now)
        else:
            saved = schedules.change(schedule.id, form.values, now=now)
    except Refused as refused:
        form.add_refusal(refused)
        return _render(request, form)
    messages.success(request, gettext("Schedule created.") if schedule is None else gettext("Saved."))
    return redirect("scheduler:schedule", saved.id)


def _render(request: HttpRequest, form: ScheduleForm) -> HttpResponse:
    schedule = form.schedule
    context = {
        "section": "schedules",
        "schedule": schedule,
        "form": form,
        "zones": COMMON_ZONES,
        "preview_at": reverse("scheduler:schedule-preview", args=[schedule.id])
        if schedule
        else reverse("scheduler:new-schedule-preview"),
        **_preview_context(form),
    }
    return render(request, "scheduler/schedule_form.html", context, status=400 if form.errors else 200)


def _preview(request: HttpRequest, schedule: Schedule | None) -> HttpResponse:
    form = ScheduleForm(request.POST, schedule=schedule, now=database_now())
    form.is_valid()
    context = {"errors": form.preview_errors(), **_preview_context(form)}
    return render(request, "scheduler/schedule_preview_update.html", context)


def _preview_context(form: ScheduleForm) -> dict[str, Any]:
    rule = form.rule if form.is_bound or form.schedule is None else form.schedule.rule
    return {
        "in_words": words.rule_in_words(rule, language()) if rule else "",
        "next": moments(rules.upcoming(rule, form.now, PREVIEWED_RUNS), rule.zone.key) if rule else [],
        "paused": not form["enabled"].value(),
        "help": help_for(form["task_id"].value() or ""),
    }
