"""Workflows in the admin: saved by the verbs of the API, so their next run is registered at once."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from jobs.admin import columns
from jobs.admin.actions import Operator, RowAction
from jobs.admin.base import SmallTableAdmin
from jobs.admin.filters import choice
from jobs.admin.forms import MaskedForm, add_refusals
from jobs.admin.links import Link, rows_of
from jobs.errors import Invalid, Refused
from jobs.pages.refusals import all_told, told
from scheduler.admin.preview import SHOWN, Outlook, Previewing, wrong
from scheduler.clock import database_now
from scheduler.models import Workflow, WorkflowRun
from scheduler.pages import labels
from scheduler.pages.times import language
from scheduler.schedules import words
from scheduler.states import WorkflowStatus
from scheduler.workflows import lifecycle as workflows
from scheduler.workflows import recurrence, runs, steps
from scheduler.workflows.recurrence import ConfigError, Recurring, ScheduleConfig

CONFIG = "schedule_config"


class WorkflowForm(MaskedForm):
    masked = ("steps",)

    class Meta:
        model = Workflow
        fields = ("office", "name", "status", "steps", CONFIG)
        widgets = {"steps": forms.Textarea(attrs={"rows": 16, "cols": 90})}

    def clean(self) -> dict[str, Any]:
        given = super().clean()
        if not self.errors:
            add_refusals(self, lambda: self._check(given))
        return given

    def _check(self, given: dict[str, Any]) -> None:
        try:
            recurrence.read(given[CONFIG])
            prepared = steps.prepare(given.get("office") or self.instance.office, given["steps"])
        except ConfigError as refused:
            raise Invalid("", errors={CONFIG: problems_of(refused)}) from None
        except Refused as refused:
            said = [f"{name}: {' '.join(why)}" for name, why in all_told(refused.errors).items()]
            raise Invalid("", errors={"steps": said or [told(refused.text)]}) from None
        if given["status"] == WorkflowStatus.ACTIVE and not prepared.jobs:
            raise Invalid("", errors={"steps": [str(_("An active workflow needs at least one step."))]})


def problems_of(refused: ConfigError) -> list[str]:
    return [f"{name}: {' '.join(why)}" for name, why in all_told(refused.errors).items()]


@columns.computed(_("in words"))
def in_words(workflow: Workflow) -> str:
    return words.config_in_words(recurrence.read(workflow.schedule_config), language())


def set_status(status: WorkflowStatus) -> Any:
    return lambda workflow, operator: workflows.change(workflow.pk, {"status": status}, now=database_now())


def run_now(workflow: Workflow, operator: Operator) -> None:
    runs.run_now(workflow.pk, user_id=operator.user.pk, now=database_now())


@admin.register(Workflow)
class WorkflowAdmin(Previewing, SmallTableAdmin):
    form = WorkflowForm
    list_display = (
        "name",
        columns.linked("office", _("office")),
        columns.state(_("state")),
        in_words,
        "updated_at",
    )
    list_filter = (
        choice("status", _("state"), {one: label.name for one, label in labels.WORKFLOWS.items()}),
    )
    search_fields = ("name",)
    list_select_related = ("office",)
    autocomplete_fields = ("office",)
    row_actions = (
        RowAction(
            "run_now",
            _("Run now…"),
            lambda n: ngettext("Run %d workflow now", "Run %d workflows now", n) % n,
            do=run_now,
            refusal=lambda workflow: "" if workflow.steps else _("it has no steps"),
            note=_("Its registered run stays as it is."),
        ),
        RowAction(
            "pause",
            _("Pause…"),
            lambda n: ngettext("Pause %d workflow", "Pause %d workflows", n) % n,
            do=set_status(WorkflowStatus.PAUSED),
            refusal=lambda workflow: "" if workflow.status == WorkflowStatus.ACTIVE else _("not active"),
            note=_("Its registered run is removed; a run under way goes on."),
        ),
        RowAction(
            "resume",
            _("Activate…"),
            lambda n: ngettext("Activate %d workflow", "Activate %d workflows", n) % n,
            do=set_status(WorkflowStatus.ACTIVE),
            refusal=lambda workflow: _("active already") if workflow.status == WorkflowStatus.ACTIVE else "",
            note=_("It counts from now: what would have run meanwhile is not made up."),
        ),
    )

    def outlook_of_form(self, form: Any) -> Outlook:
        if problems := wrong(form, (CONFIG,)):
            return Outlook(problems=problems)
        try:
            config = recurrence.read(form.cleaned_data.get(CONFIG))
        except ConfigError as refused:
            return Outlook(problems=problems_of(refused))
        now = database_now()
        return Outlook(words.config_in_words(config, language()), list(turns(config, now, now)))

    def outlook_of(self, row: Workflow) -> Outlook:
        config, now = recurrence.read(row.schedule_config), database_now()
        active = row.status == WorkflowStatus.ACTIVE and row.activated_at is not None
        times = turns(config, row.activated_at or now, now) if active else ()
        return Outlook(words.config_in_words(config, language()), list(times))

    def get_readonly_fields(self, request: HttpRequest, obj: Workflow | None = None) -> tuple[str, ...]:
        return ("office",) if obj else ()

    def links(self, request: HttpRequest, row: Workflow) -> list[Link]:
        page = Link(reverse("scheduler:workflow", args=[row.pk]), _("Its page"))
        return [page, rows_of(WorkflowRun, _("Its runs"), workflow=row.pk)]

    def save_model(self, request: HttpRequest, obj: Workflow, form: Any, change: bool) -> None:
        if change:
            given = {name: form.cleaned_data[name] for name in form.changed_data}
            workflows.change(obj.pk, given, now=database_now())
        else:
            given = {name: value for name, value in form.cleaned_data.items() if name != "office"}
            made = workflows.create(form.cleaned_data["office"], given, now=database_now())
            obj.pk, obj._state.adding = made.pk, False

    def delete_model(self, request: HttpRequest, obj: Workflow) -> None:
        workflows.remove(obj.pk)


def turns(config: ScheduleConfig, activated_at: datetime, now: datetime) -> Iterator[datetime]:
    """The next few; of everything but a recurring workflow there is one, if it has not passed."""
    return islice(_turns(config, activated_at, now), SHOWN)


def _turns(config: ScheduleConfig, activated_at: datetime, now: datetime) -> Iterator[datetime]:
    if not isinstance(config, Recurring):
        only = recurrence.next_time(config, activated_at, None)
        if only is not None and only >= now:
            yield only
        return
    turn = recurrence.next_time(config, activated_at, now)
    while turn is not None:
        yield turn
        turn = recurrence.next_time(config, activated_at, turn)
